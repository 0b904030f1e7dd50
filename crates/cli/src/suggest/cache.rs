//! What servers have, remembered for a minute: a person who completes one word completes the next.

use std::{
    env, fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::PathBuf,
    time::{Duration, SystemTime},
};

use serde_json::Value;
use turnbuckle_base::{private, replace};

/// How long it is remembered. A server that is being written changes often.
const AGE: Duration = Duration::from_mins(1);

/// The largest file that is read back, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// What one server with these options is remembered under. A name means another server in another
/// folder.
pub(super) fn key(server: &str, command: &[String], options: &[Vec<String>]) -> String {
    let mut hasher = DefaultHasher::new();
    (server, command, options, env::current_dir().ok()).hash(&mut hasher);
    // Another version may write otherwise.
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    format!("{:016x}.json", hasher.finish())
}

pub(super) fn read(key: &str) -> Option<Value> {
    let path = folder()?.join(key);
    let about = fs::metadata(&path).ok()?;
    let age = SystemTime::now()
        .duration_since(about.modified().ok()?)
        .ok()?;
    if age > AGE || about.len() > MAX_BYTES {
        let _ = fs::remove_file(&path);
        return None;
    }
    serde_json::from_slice(&fs::read(path).ok()?).ok()
}

/// Remembers it, if that can be done: completion works without.
pub(super) fn write(key: &str, value: &Value) {
    let Some(folder) = folder() else { return };
    let _ = private::make_folder(&folder)
        .and_then(|()| replace::private(&folder.join(key), value.to_string().as_bytes()));
}

/// Where caches are kept on this machine.
fn folder() -> Option<PathBuf> {
    let given = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    let caches = if let Some(path) = given {
        PathBuf::from(path)
    } else {
        let home = env::var_os("HOME").or_else(|| env::var_os("LOCALAPPDATA"))?;
        PathBuf::from(home).join(".cache")
    };
    Some(caches.join("turnbuckle").join("completion"))
}
