//! Stores tokens in files that only their owner can read.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use turnbuckle_base::{private, replace};
use turnbuckle_transport::http::client::{BoxError, BoxFuture};

use super::seal::Seal;
use super::{StoreKey, TokenStore, folder};
use crate::Secret;
use crate::jose::{base64url, digest};

/// 1 min to wait until other processes have released a key. A renewal has a deadline of half of that.
const HOLD_TIMEOUT: Duration = Duration::from_mins(1);

/// 25 ms between two attempts to lock a key that another process holds.
const HOLD_INTERVAL: Duration = Duration::from_millis(25);

/// 1 MiB: no token is this long, so a larger file was not written by this store.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// Stores each secret in a file that only its owner can read. Files are replaced atomically. Use it
/// with [`OAuth::store`](super::super::OAuth::store), or let
/// [`OAuth::persist_tokens`](super::super::OAuth::persist_tokens) open it.
///
/// With the feature `keyring` and a keyring on this machine, files are encrypted with a key from
/// the keyring, so that a copy of the folder is useless. Without a keyring they are plain text.
/// Processes that share a folder take turns.
///
/// ```no_run
/// use turnbuckle_auth::client::{FileStore, OAuth};
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let store = FileStore::open_at("/var/lib/my-service/tokens")?;
/// let oauth = OAuth::new("my-service").store(store);
/// # drop(oauth);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct FileStore {
    folder: Arc<Path>,
    seal: Arc<Sealing>,
}

/// The key that encrypts the files. It is loaded when the first file is read or written: a keyring
/// may ask the user to unlock it, and most commands need no token.
#[derive(Debug, Default)]
struct Sealing {
    #[cfg_attr(
        not(feature = "keyring"),
        expect(
            dead_code,
            reason = "only a keyring is asked by the application's name"
        )
    )]
    application: Option<String>,
    seal: OnceLock<Option<Seal>>,
}

impl Sealing {
    fn seal(&self) -> Option<&Seal> {
        let found = self.seal.get_or_init(|| {
            #[cfg(feature = "keyring")]
            return super::keyring::seal(self.application.as_deref()?);
            #[cfg(not(feature = "keyring"))]
            None
        });
        found.as_ref()
    }
}

/// Why a token store cannot be opened. Returned by [`FileStore::open`] and
/// [`OAuth::persist_tokens`](super::super::OAuth::persist_tokens).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The environment does not name a folder for the user's data. Set `HOME`, or use
    /// [`FileStore::open_at`].
    #[error("no folder for application data was found; set HOME, or open the store at a path")]
    NoFolder,
    /// The folder cannot be created, or its permissions cannot be restricted to its owner.
    #[error("the folder `{}` cannot be used for tokens", path.display())]
    Folder {
        /// Its path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// The content of a file. It contains the store key for people who inspect the file, and to detect
/// mixed-up files.
#[derive(Serialize, Deserialize)]
struct Entry {
    key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
}

impl FileStore {
    /// Opens the store of an application in the platform's folder for application data, encrypted
    /// if there is a keyring. The folder is created if it does not exist. On Linux it is
    /// `$XDG_DATA_HOME/turnbuckle/NAME/tokens`, usually below `~/.local/share`.
    ///
    /// # Errors
    /// [`StoreError`] if there is no folder for application data, or it cannot be used.
    pub fn open(application: &str) -> Result<Self, StoreError> {
        let path = folder::of(application).ok_or(StoreError::NoFolder)?;
        let store = Self::open_at(path)?;
        let sealing = Sealing {
            application: Some(application.to_owned()),
            ..Sealing::default()
        };
        Ok(Self {
            seal: Arc::new(sealing),
            ..store
        })
    }

    /// Whether an application has a store already. This does not create one; [`open`](Self::open) does.
    pub fn exists(application: &str) -> bool {
        folder::of(application).is_some_and(|folder| folder.is_dir())
    }

    /// The applications of this user that have a store, by the names of their folders, sorted. Use
    /// it to list where a user is signed in.
    ///
    /// # Errors
    /// An I/O error if the folder of all stores cannot be read. It is not an error if it does not exist.
    pub fn applications() -> io::Result<Vec<String>> {
        folder::applications()
    }

    /// Deletes the store and everything in it. Tokens that are stored afterwards are not kept. This
    /// does not revoke tokens; call [`OAuth::sign_out`](super::super::OAuth::sign_out) before.
    ///
    /// # Errors
    /// An I/O error if a file may still exist.
    pub fn delete(self) -> io::Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => {
                // Remove the folder of the application too, if it is empty.
                let _ = self.folder.parent().map(fs::remove_dir);
                Ok(())
            }
        }
    }

    /// Whether the files are encrypted with a key from this machine's keyring. The call blocks,
    /// because the keyring may ask the user to unlock it.
    pub fn is_sealed(&self) -> bool {
        self.seal.seal().is_some()
    }

    /// Opens an unencrypted store in this folder. The folder is created with owner-only permissions
    /// if it does not exist. Use it for services without a home folder or a keyring, and protect
    /// the folder as you protect keys.
    ///
    /// # Errors
    /// [`StoreError::Folder`] if the folder cannot be used.
    pub fn open_at(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path: PathBuf = folder.into();
        match folder::prepare(&path) {
            Ok(()) => Ok(Self {
                folder: path.into(),
                seal: Arc::default(),
            }),
            Err(source) => Err(StoreError::Folder { path, source }),
        }
    }

    #[cfg(test)]
    pub(super) fn sealed_with(self, seal: Seal) -> Self {
        let sealing = Sealing {
            application: None,
            seal: OnceLock::from(Some(seal)),
        };
        Self {
            seal: Arc::new(sealing),
            ..self
        }
    }

    fn path(&self, key: &StoreKey, ending: &str) -> PathBuf {
        self.folder
            .join(format!("{}.{ending}", digest(key.as_str())))
    }

    fn read(&self, key: &StoreKey) -> io::Result<Option<Secret>> {
        let path = self.path(key, "json");
        let text = match fs::metadata(&path) {
            Ok(found) if found.len() > MAX_FILE_BYTES => return Ok(None),
            Ok(_) => fs::read(&path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // Treat an unreadable file as missing: the user signs in again.
        let Ok(entry) = serde_json::from_slice::<Entry>(&text) else {
            tracing::warn!(path = %path.display(), "a token file cannot be read, and is ignored");
            return Ok(None);
        };
        Ok(self.opened(key, entry))
    }

    fn opened(&self, key: &StoreKey, entry: Entry) -> Option<Secret> {
        if entry.key != key.as_str() {
            return None;
        }
        let Some(sealed) = entry.sealed else {
            return entry.value.map(Secret::new);
        };
        let seal = self.seal.seal()?;
        let value = seal.open(key, &base64url::decode(sealed)?)?;
        String::from_utf8(value).ok().map(Secret::new)
    }

    fn write(&self, key: &StoreKey, value: &Secret) -> io::Result<()> {
        let mut entry = Entry {
            key: key.as_str().to_owned(),
            value: None,
            sealed: None,
        };
        match self.seal.seal() {
            Some(seal) => {
                let sealed = seal.close(key, value.expose().as_bytes());
                let sealed =
                    sealed.ok_or_else(|| io::Error::other("the token could not be encrypted"))?;
                entry.sealed = Some(base64url::encode(sealed));
            }
            None => entry.value = Some(value.expose().to_owned()),
        }
        let text = zeroize::Zeroizing::new(serde_json::to_vec(&entry)?);
        replace::private(&self.path(key, "json"), &text)
    }

    fn erase(&self, key: &StoreKey) -> io::Result<()> {
        match fs::remove_file(self.path(key, "json")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Runs a function on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        act: impl FnOnce(&Self) -> io::Result<T> + Send + 'static,
    ) -> Result<T, BoxError> {
        let store = self.clone();
        Ok(tokio::task::spawn_blocking(move || act(&store)).await??)
    }

    /// Polls for the lock: a blocking wait for it could not be cancelled.
    async fn lock(&self, key: &StoreKey) -> Result<File, BoxError> {
        let path = self.path(key, "lock");
        loop {
            let path = path.clone();
            let held = self.blocking(move |_| try_lock(&path)).await?;
            match held {
                Some(file) => return Ok(file),
                None => tokio::time::sleep(HOLD_INTERVAL).await,
            }
        }
    }
}

impl TokenStore for FileStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
        let key = key.clone();
        Box::pin(self.blocking(move |store| store.read(&key)))
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let (key, value) = (key.clone(), value.clone());
        Box::pin(self.blocking(move |store| store.write(&key, &value)))
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>> {
        let key = key.clone();
        Box::pin(self.blocking(move |store| store.erase(&key)))
    }

    fn hold<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Box<dyn Send>, BoxError>> {
        Box::pin(async move {
            match tokio::time::timeout(HOLD_TIMEOUT, self.lock(key)).await {
                // The operating system releases the lock when the file is closed or the process ends.
                Ok(file) => Ok(Box::new(file?) as Box<dyn Send>),
                Err(_) => Err(format!(
                    "another process has locked the tokens for {HOLD_TIMEOUT:?}"
                )
                .into()),
            }
        })
    }
}

fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = private::lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::seal::KEY_BYTES;
    use super::*;

    /// A folder that is removed after the test.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new() -> Self {
            let random = super::super::super::random::random_text();
            Self(std::env::temp_dir().join(format!("turnbuckle-{}", random.expose())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    // rule: A22
    /// A22: tokens are stored securely.
    #[cfg(unix)]
    #[tokio::test]
    async fn only_the_owner_may_read_and_nothing_is_left_over() {
        use std::os::unix::fs::PermissionsExt;

        let scratch = Scratch::new();
        fs::create_dir(&scratch.0).unwrap();
        fs::set_permissions(&scratch.0, fs::Permissions::from_mode(0o777)).unwrap();
        let store = FileStore::open_at(&scratch.0).unwrap();
        let key = StoreKey::client("https://as.example");
        for value in ["one", "two"] {
            store.save(&key, &Secret::new(value)).await.unwrap();
        }
        assert_eq!(store.load(&key).await.unwrap().unwrap().expose(), "two");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&scratch.0), 0o700);
        let files = files(&scratch.0);
        assert_eq!(files.len(), 1, "{files:?}");
        assert_eq!(mode(&files[0]), 0o600);
        store.remove(&key).await.unwrap();
        store.remove(&key).await.unwrap();
        assert!(store.load(&key).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn drafts_of_a_process_that_was_ended_do_not_stay() {
        let scratch = Scratch::new();
        FileStore::open_at(&scratch.0).unwrap();
        let (old, new) = (scratch.0.join("a.1-x.draft"), scratch.0.join("a.2-y.draft"));
        for path in [&old, &new] {
            fs::write(path, "sesame").unwrap();
        }
        let then = std::time::SystemTime::now() - 2 * folder::DRAFT_AGE;
        File::options()
            .write(true)
            .open(&old)
            .unwrap()
            .set_modified(then)
            .unwrap();
        FileStore::open_at(&scratch.0).unwrap();
        assert_eq!(files(&scratch.0), [new]);
    }

    // rule: A26
    #[tokio::test]
    async fn sealed_files_are_worth_nothing_without_the_key() {
        let scratch = Scratch::new();
        let plain = FileStore::open_at(&scratch.0).unwrap();
        let sealed = plain.clone().sealed_with(Seal::new(&[7; KEY_BYTES]));
        let key = StoreKey::client("https://as.example");
        sealed.save(&key, &Secret::new("sesame")).await.unwrap();
        let text = fs::read_to_string(&files(&scratch.0)[0]).unwrap();
        assert!(!text.contains("sesame"), "{text}");
        assert!(plain.load(&key).await.unwrap().is_none());
        assert_eq!(sealed.load(&key).await.unwrap().unwrap().expose(), "sesame");
        // Values that were stored before there was a keyring can still be read.
        plain.save(&key, &Secret::new("old")).await.unwrap();
        assert_eq!(sealed.load(&key).await.unwrap().unwrap().expose(), "old");
    }

    #[tokio::test]
    async fn a_file_that_cannot_be_read_is_as_good_as_none() {
        let scratch = Scratch::new();
        let store = FileStore::open_at(&scratch.0).unwrap();
        let key = StoreKey::client("https://as.example");
        for text in ["", "{}", r#"{"key":"another","value":"sesame"}"#, "\u{0}"] {
            fs::write(store.path(&key, "json"), text).unwrap();
            assert!(store.load(&key).await.unwrap().is_none(), "{text}");
        }
    }

    #[tokio::test]
    async fn a_key_is_held_by_one_at_a_time() {
        let scratch = Scratch::new();
        let (one, other) = (
            FileStore::open_at(&scratch.0).unwrap(),
            FileStore::open_at(&scratch.0).unwrap(),
        );
        let (key, another) = (StoreKey::client("a"), StoreKey::client("b"));
        let held = one.hold(&key).await.unwrap();
        assert!(try_lock(&other.path(&key, "lock")).unwrap().is_none());
        let _free = other.hold(&another).await.unwrap();
        drop(held);
        let _mine = other.hold(&key).await.unwrap();
    }
}
