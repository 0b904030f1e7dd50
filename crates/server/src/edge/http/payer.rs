//! The caller or address whose quotas a request counts against.

use std::sync::Arc;

use crate::quota::{CallerKey, CountedCaller, Quota, Share};

/// The caller whose quota counts for a session.
pub(super) struct Payer {
    pub(super) key: CallerKey,
    /// The caller whose rates count, if any.
    pub(super) counted: Option<CountedCaller>,
    /// The memory for what is kept.
    pub(super) kept: Arc<Quota>,
}

impl Payer {
    /// What is kept for this caller, nothing so far.
    pub(super) fn share(&self) -> Share {
        self.kept.share(self.key)
    }
}
