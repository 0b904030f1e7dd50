//! The error of a store that cannot be used.

use std::{error::Error, fmt};

/// The store itself failed: its engine cannot be reached, or contains unreadable data.
///
/// Stores in memory never fail. Errors of the caller have separate types, next to each trait.
#[derive(Debug)]
pub struct StoreError {
    store: &'static str,
    source: Box<dyn Error + Send + Sync>,
}

impl StoreError {
    /// Makes an error of this store, with its cause.
    pub fn new(store: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            store,
            source: source.into(),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the store `{}` failed: {}", self.store, self.source)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
