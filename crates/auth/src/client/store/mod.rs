//! Where tokens are kept between runs.
//!
//! [`MemoryStore`] forgets them with the process. [`FileStore`] keeps them in files that only their
//! owner may read, sealed with a key of the operating system's keyring where there is one (feature
//! `keyring`). Implement [`TokenStore`] for anything else.

mod file;
mod key;
#[cfg(feature = "keyring")]
mod keyring;
mod memory;
mod place;
#[cfg_attr(
    not(any(test, feature = "keyring")),
    expect(dead_code, reason = "only a keyring gives keys to seal with")
)]
mod seal;

use turnbuckle_transport::http::client::{BoxError, BoxFuture};

pub use file::{FileStore, StoreError};
pub use key::StoreKey;
pub use memory::MemoryStore;

use crate::Secret;

/// Stores tokens and client registrations. Set it with [`OAuth::store`](super::OAuth::store);
/// implement it to keep tokens in a database.
///
/// ```
/// use std::collections::HashMap;
/// use std::future::ready;
/// use std::sync::Mutex;
/// use turnbuckle_auth::{Secret, client::{StoreKey, TokenStore}};
/// use turnbuckle_transport::http::client::{BoxError, BoxFuture};
///
/// #[derive(Default)]
/// struct InMemory(Mutex<HashMap<String, Secret>>);
///
/// impl TokenStore for InMemory {
///     fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
///         Box::pin(ready(Ok(self.0.lock().unwrap().get(key.as_str()).cloned())))
///     }
///
///     fn save<'a>(
///         &'a self,
///         key: &'a StoreKey,
///         value: &'a Secret,
///     ) -> BoxFuture<'a, Result<(), BoxError>> {
///         self.0.lock().unwrap().insert(key.as_str().to_owned(), value.clone());
///         Box::pin(ready(Ok(())))
///     }
///
///     fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>> {
///         self.0.lock().unwrap().remove(key.as_str());
///         Box::pin(ready(Ok(())))
///     }
/// }
/// ```
pub trait TokenStore: Send + Sync {
    /// Loads the value of a key; `None` if the store has no value for it. It is not called for each
    /// request.
    ///
    /// # Errors
    /// If the store cannot be read. The user may have to sign in again.
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>>;

    /// Stores a value and replaces the earlier one. Concurrent loads see the old value or the new
    /// one. Values are text of a few kilobytes; encrypt them if others can read the store.
    ///
    /// # Errors
    /// If the value could not be stored. The tokens are used all the same, until the process ends.
    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Removes a value. It is not an error if the key has no value.
    ///
    /// # Errors
    /// If the value may still be there.
    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Waits until no other user of this store holds the lock of the key, and holds it until the
    /// returned guard is dropped. Tokens are renewed under this lock: the second of two uses of one
    /// refresh token would be taken for theft.
    ///
    /// The default does not lock anything; then only the clones of one `OAuth` take turns.
    /// Implement it if several processes share the store.
    ///
    /// # Errors
    /// If the key cannot be held, for example because another process holds it for too long.
    fn hold<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Box<dyn Send>, BoxError>> {
        let _ = key;
        Box::pin(std::future::ready(Ok(Box::new(()) as Box<dyn Send>)))
    }
}
