//! Stores tokens in memory until the process ends.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::{BoxError, BoxFuture};

use super::{StoreKey, TokenStore};
use crate::Secret;

/// 1 min to wait until others have released a key. A renewal has a deadline of half of that.
const HOLD_TIMEOUT: Duration = Duration::from_mins(1);

/// Stores secrets in memory; they are gone when the process ends. This is the default
/// [`TokenStore`](super::TokenStore). Clones share one store. Use [`FileStore`](super::FileStore)
/// if users should not have to sign in with each run.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<StoredSecrets>);

#[derive(Debug, Default)]
struct StoredSecrets {
    secrets: Mutex<HashMap<StoreKey, Secret>>,
    /// One lock for each store key. There are few keys.
    turns: Mutex<HashMap<StoreKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<StoreKey, Secret>) -> T) -> T {
        act(&mut self.0.secrets.lock())
    }

    /// Copies all secrets to another store.
    ///
    /// # Errors
    /// The error of the other store if a secret could not be stored there.
    pub async fn copy_to(&self, other: &dyn TokenStore) -> Result<(), BoxError> {
        let all = self.with(|all| all.clone());
        for (key, value) in &all {
            other.save(key, value).await?;
        }
        Ok(())
    }
}

impl TokenStore for MemoryStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
        Box::pin(ready(Ok(self.with(|all| all.get(key).cloned()))))
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        self.with(|all| all.insert(key.clone(), value.clone()));
        Box::pin(ready(Ok(())))
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>> {
        self.with(|all| all.remove(key));
        Box::pin(ready(Ok(())))
    }

    fn hold<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Box<dyn Send>, BoxError>> {
        let mut turns = self.0.turns.lock();
        let turn = Arc::clone(turns.entry(key.clone()).or_default());
        Box::pin(async move {
            match tokio::time::timeout(HOLD_TIMEOUT, turn.lock_owned()).await {
                Ok(held) => Ok(Box::new(held) as Box<dyn Send>),
                Err(_) => Err(format!(
                    "another request has locked the tokens for {HOLD_TIMEOUT:?}"
                )
                .into()),
            }
        })
    }
}
