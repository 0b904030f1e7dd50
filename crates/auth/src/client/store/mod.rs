//! Token stores, which keep tokens between runs.
//!
//! [`MemoryStore`] keeps tokens until the process ends. [`FileStore`] keeps them in files that only
//! their owner can read, encrypted with a key from the operating system's keyring if there is one
//! (feature `keyring`). Implement [`TokenStore`] for other storage.

mod file;
mod folder;
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
    /// Loads the value of a key, or `None` if the store has no value for it. It is not called for
    /// every request.
    ///
    /// # Errors
    /// Any error if the store cannot be read. The user may have to sign in again.
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>>;

    /// Stores a value, replacing an earlier one. Concurrent loads must return either the old or the
    /// new value. Values are texts of a few kilobytes; encrypt them if others can read the store.
    ///
    /// # Errors
    /// Any error if the value could not be stored. The tokens are still used until the process ends.
    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Removes a value. It is not an error if the key has no value.
    ///
    /// # Errors
    /// Any error if the value may still exist.
    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Waits until no other user of this store holds the lock of the key, and holds it until the
    /// returned guard is dropped. Tokens are renewed under this lock, because the second of two
    /// uses of one refresh token would be treated as theft.
    ///
    /// The default implementation locks nothing, so only the clones of one `OAuth` take turns.
    /// Implement it if several processes share the store.
    ///
    /// # Errors
    /// Any error if the lock cannot be taken, for example because another process holds it for too long.
    fn hold<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Box<dyn Send>, BoxError>> {
        let _ = key;
        Box::pin(std::future::ready(Ok(Box::new(()) as Box<dyn Send>)))
    }
}
