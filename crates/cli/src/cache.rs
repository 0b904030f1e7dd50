//! Small files that make the next run faster. Everything works without them.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash, Hasher as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde::{Serialize, de::DeserializeOwned};
use turnbuckle_base::{private, replace};

/// The largest file that is read back, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// How many files a cache may have before expired ones are removed.
const MAX_FILES: usize = 256;

/// A cache for one kind of data.
pub(crate) struct Cache {
    /// The subfolder of the cache folder.
    pub(crate) name: &'static str,
    /// How long a value is used.
    pub(crate) age: Duration,
}

impl Cache {
    /// Reads the value for this key, if it has not expired.
    pub(crate) fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let path = self.folder()?.join(key);
        if self.is_old(&path)? || fs::metadata(&path).ok()?.len() > MAX_BYTES {
            let _ = fs::remove_file(&path);
            return None;
        }
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    /// Writes a value. Errors are ignored.
    pub(crate) fn write(&self, key: &str, value: &impl Serialize) {
        let (Some(folder), Ok(text)) = (self.folder(), serde_json::to_vec(value)) else {
            return;
        };
        let _ =
            private::make_folder(&folder).and_then(|()| replace::private(&folder.join(key), &text));
        self.sweep(&folder);
    }

    /// Removes a value.
    pub(crate) fn remove(&self, key: &str) {
        if let Some(folder) = self.folder() {
            let _ = fs::remove_file(folder.join(key));
        }
    }

    fn sweep(&self, folder: &Path) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        let paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        if paths.len() <= MAX_FILES {
            return;
        }
        for path in paths {
            if self.is_old(&path) == Some(true) {
                let _ = fs::remove_file(path);
            }
        }
    }

    fn is_old(&self, path: &Path) -> Option<bool> {
        let written = fs::metadata(path).ok()?.modified().ok()?;
        let age = SystemTime::now().duration_since(written).ok()?;
        Some(age > self.age)
    }

    /// The folder of this cache.
    fn folder(&self) -> Option<PathBuf> {
        let given = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
        let caches = if let Some(path) = given {
            PathBuf::from(path)
        } else {
            let home = env::var_os("HOME").or_else(|| env::var_os("LOCALAPPDATA"))?;
            PathBuf::from(home).join(".cache")
        };
        Some(caches.join("turnbuckle").join(self.name))
    }
}

/// A key made of everything that the value depends on. This includes the current folder, because a name or a path may
/// mean something else in another folder, and the version, whose files may have another format.
pub(crate) fn key(of: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    (of, env::current_dir().ok(), env!("CARGO_PKG_VERSION")).hash(&mut hasher);
    format!("{:016x}.json", hasher.finish())
}
