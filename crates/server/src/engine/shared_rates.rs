//! Rates that replicas share.
//!
//! Each replica gives a caller a small part of its rate without asking. The parts of all replicas
//! together are at most half of the rate. Only if a caller needs more are its requests counted in
//! the store, in blocks. This happens after the calls: no call waits for the store.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{runtime::Handle, time::Instant};
use turnbuckle_base::{lock::Mutex, wall_clock};
use turnbuckle_store::{
    bus::Bus,
    limit::{RateGrant, RateRequest, SharedLimits},
};
use turnbuckle_transport::Rate;

use crate::quota::CallerKey;

/// How many callers are counted in the store at a time. Others are counted only by this replica.
const MAX_BUSY: usize = 4096;

/// How long a caller that sends no more requests is remembered.
const REMEMBERED: Duration = Duration::from_secs(10);

/// How long the store may take. After that, only the rate of this replica counts for a while.
const TAKE_WITHIN: Duration = Duration::from_secs(1);

/// The longest time for which a caller is rejected before the store is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The largest number of requests in a block.
const MAX_BLOCK: u32 = 1000;

/// The number of replicas that is assumed until they are counted. It is high, so that little is
/// given without asking.
const ASSUMED_REPLICAS: u32 = 16;

/// Rates that replicas share.
pub(crate) struct SharedRates {
    limits: Arc<dyn SharedLimits>,
    bus: Arc<dyn Bus>,
    runtime: Handle,
    /// The number of replicas.
    replicas: AtomicU32,
    busy: Mutex<HashMap<(&'static str, CallerKey), BusyCaller>>,
}

/// A caller that has used up the part of this replica.
struct BusyCaller {
    /// How many requests are already counted in the store.
    credit: u32,
    /// How many requests were allowed but are not counted in the store yet.
    owed: u32,
    is_taking: bool,
    /// The time until which the store has nothing left for the caller.
    refused_until: Option<Instant>,
    used: Instant,
}

impl SharedRates {
    /// Must be called inside a runtime.
    pub(crate) fn new(limits: Arc<dyn SharedLimits>, bus: Arc<dyn Bus>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            bus,
            runtime: Handle::current(),
            replicas: AtomicU32::new(ASSUMED_REPLICAS),
            busy: Mutex::default(),
        })
    }

    /// Updates the number of replicas.
    pub(crate) fn count_replicas(&self) {
        let replicas = u32::try_from(self.bus.nodes().len()).unwrap_or(u32::MAX);
        self.replicas.store(replicas.max(1), Ordering::Relaxed);
    }

    /// The number of parts into which a rate is divided. This replica gives one part without
    /// asking.
    pub(super) fn parts(&self) -> u32 {
        self.replicas.load(Ordering::Relaxed).saturating_mul(2)
    }

    /// Counts one request of a caller beyond the part of this replica. Returns `false` if all
    /// replicas together have allowed too many. `limit` is the kind of request, and `name`
    /// identifies the caller for other replicas.
    pub(super) fn take(
        self: &Arc<Self>,
        limit: &'static str,
        caller: CallerKey,
        rate: Rate,
        name: impl FnOnce() -> String,
    ) -> bool {
        let now = Instant::now();
        let key = (limit, caller);
        let mut busy = self.busy.lock();
        if busy.len() >= MAX_BUSY && !busy.contains_key(&key) {
            busy.retain(|_, busy| busy.is_taking || now - busy.used < REMEMBERED);
            if busy.len() >= MAX_BUSY {
                return true;
            }
        }
        let entry = busy.entry(key).or_insert_with(|| BusyCaller::new(now));
        let is_allowed = entry.take(rate.burst(), now);
        let block = (rate.burst() / self.parts().saturating_mul(2)).clamp(1, MAX_BLOCK);
        if !entry.wants(block, now) {
            return is_allowed;
        }
        entry.is_taking = true;
        let owed = entry.owed;
        drop(busy);
        let (shared, name) = (Arc::clone(self), name());
        // This task ends with the answer of the store, or after a timeout.
        self.runtime.spawn(async move {
            let mut request = RateRequest::new(&name, limit, rate.burst(), rate.per_second());
            (request.owed, request.wanted) = (owed, block);
            let taking = shared.limits.take(request, wall_clock::now());
            let grant = match tokio::time::timeout(TAKE_WITHIN, taking).await {
                Ok(Ok(grant)) => Some(grant),
                Ok(Err(error)) => {
                    tracing::warn!(
                        %error,
                        "the shared store failed: for now a rate limit counts only the requests to \
                         this replica"
                    );
                    None
                }
                Err(_) => None,
            };
            shared.count_replicas();
            if let Some(entry) = shared.busy.lock().get_mut(&key) {
                entry.settle(grant, owed, block);
            }
        });
        is_allowed
    }
}

impl BusyCaller {
    fn new(now: Instant) -> Self {
        Self {
            credit: 0,
            owed: 0,
            is_taking: false,
            refused_until: None,
            used: now,
        }
    }

    fn is_refused(&self, now: Instant) -> bool {
        self.refused_until.is_some_and(|until| now < until)
    }

    /// Whether a request is allowed. It is until the store answers that there is nothing left.
    fn take(&mut self, burst: u32, now: Instant) -> bool {
        self.used = now;
        if self.credit > 0 {
            self.credit -= 1;
            return true;
        }
        if self.is_refused(now) {
            return false;
        }
        self.owed = (self.owed + 1).min(burst);
        true
    }

    /// Whether the store has to be asked.
    fn wants(&self, block: u32, now: Instant) -> bool {
        !self.is_taking && !self.is_refused(now) && (self.owed > 0 || self.credit <= block / 2)
    }

    /// Applies the answer of the store; `None` if it did not answer.
    fn settle(&mut self, grant: Option<RateGrant>, owed: u32, block: u32) {
        self.is_taking = false;
        match grant {
            Some(grant) => {
                self.owed = self.owed.saturating_sub(owed);
                self.credit = self.credit.saturating_add(grant.granted);
                let until = Instant::now() + grant.wait.min(ASK_AGAIN);
                self.refused_until = (grant.granted == 0).then_some(until);
            }
            // No caller is rejected because the store is unreachable: this replica allows a block
            // of requests, and asks the store again after that.
            None => self.credit = self.credit.max(block),
        }
    }
}
