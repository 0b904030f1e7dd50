//! Tokens that are forgotten with the process.

use std::collections::HashMap;
use std::future::ready;
use std::sync::{Mutex, PoisonError};

use turnbuckle_transport::http::client::BoxError;

use super::{BoxFuture, StoreKey, TokenStore};
use crate::Secret;

/// Keeps secrets in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<HashMap<StoreKey, Secret>>);

impl MemoryStore {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<StoreKey, Secret>) -> T) -> T {
        // A map is whole between any two of its calls.
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
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
}
