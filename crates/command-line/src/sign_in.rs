//! Tokens of protected servers, stored between runs.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures_core::future::BoxFuture;
use turnbuckle::auth::{
    Secret,
    client::{Browser, BrowserVisit, FileStore, OAuth, StoreKey, TokenStore},
};
use turnbuckle_base::lock::Mutex;

use crate::failure::{Code, Failed, Outcome};

/// The client name that users see when they sign in, and under which tokens are stored.
const NAME: &str = "turnbuckle";

/// The store of tokens between runs.
pub fn store() -> Outcome<FileStore> {
    FileStore::open(NAME).map_err(|error| Failed::new(Code::Authorization, error))
}

/// Gets and renews tokens, and keeps them in this store.
pub fn kept_in(store: impl TokenStore + 'static) -> OAuth {
    OAuth::new(NAME).store(store)
}

/// A store that records whether tokens could not be written. A sign-in works without a store, but
/// is lost when the process ends. Clones share the record.
#[derive(Clone)]
pub struct CheckedStore {
    store: FileStore,
    failure: Arc<Mutex<Option<String>>>,
    has_found: Arc<AtomicBool>,
}

impl CheckedStore {
    /// Wraps this store.
    pub fn new(store: FileStore) -> Self {
        Self {
            store,
            failure: Arc::default(),
            has_found: Arc::default(),
        }
    }

    /// Whether any lookup found something.
    pub fn has_found(&self) -> bool {
        self.has_found.load(Ordering::Relaxed)
    }

    /// The error of a failed write, if there was one.
    pub fn failure(&self) -> Option<String> {
        self.failure.lock().clone()
    }
}

type Stored<'a, T> = BoxFuture<'a, Result<T, Box<dyn std::error::Error + Send + Sync>>>;

impl TokenStore for CheckedStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> Stored<'a, Option<Secret>> {
        Box::pin(async move {
            let found = self.store.load(key).await;
            if matches!(found, Ok(Some(_))) {
                self.has_found.store(true, Ordering::Relaxed);
            }
            found
        })
    }

    fn save<'a>(&'a self, key: &'a StoreKey, value: &'a Secret) -> Stored<'a, ()> {
        Box::pin(async move {
            let saved = self.store.save(key, value).await;
            if let Err(error) = &saved {
                self.failure.lock().get_or_insert_with(|| error.to_string());
            }
            saved
        })
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> Stored<'a, ()> {
        self.store.remove(key)
    }

    fn hold<'a>(&'a self, key: &'a StoreKey) -> Stored<'a, Box<dyn Send>> {
        self.store.hold(key)
    }
}

/// Gets and renews tokens, and keeps them between runs.
pub fn remembered() -> Outcome<OAuth> {
    store().map(kept_in)
}

/// Uses and renews the stored tokens, but never opens a browser: a command in a script must
/// not wait for a user. `None` if tokens cannot be stored.
pub fn silent() -> Option<OAuth> {
    Some(remembered().ok()?.browser(NoBrowser))
}

/// A browser that never opens.
struct NoBrowser;

type Prepared = Result<Box<dyn BrowserVisit>, Box<dyn std::error::Error + Send + Sync>>;

impl Browser for NoBrowser {
    fn prepare<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Prepared> {
        Box::pin(async { Err("you have not signed in to this server".into()) })
    }
}
