//! The caller or address whose quotas a request counts against.

use std::sync::Arc;

use crate::quota::{CallerKey, CountedCaller, Quota, Share};

/// The caller against whose quotas a session counts.
pub(super) struct Payer {
    pub(super) key: CallerKey,
    /// The caller against whose rates requests count, if they are counted.
    pub(super) counted: Option<CountedCaller>,
    /// The quota of memory for data that is kept between messages.
    pub(super) kept: Arc<Quota>,
}

impl Payer {
    /// Creates an empty share of the quota for this caller.
    pub(super) fn share(&self) -> Share {
        self.kept.share(self.key)
    }
}
