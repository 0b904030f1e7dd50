//! The parked calls, and the outcomes of those that have ended.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use indexmap::IndexMap;
use tokio::{sync::Notify, time::Instant};
use turnbuckle_base::{jitter, lock::Mutex};
use turnbuckle_protocol::ClientCapabilities;
use turnbuckle_server::Reject;

use super::parked_call::ParkedCall;
use crate::observe::WaitingQuestion;

/// How many calls may be parked in one process.
pub(crate) const MAX_PARKED: usize = 1_024;

/// How many calls of one caller may be parked.
const MAX_PER_CALLER: usize = 16;

/// How many calls to one server may be parked.
const MAX_PER_SERVER: usize = 32;

/// How many outcomes are kept for clients that lost the answer.
const MAX_KEPT: usize = 1_024;

/// How many bytes of outcomes are kept.
const MAX_KEPT_BYTES: usize = 64 * 1024 * 1024;

/// How many bytes of one caller's outcomes are kept. The newest outcome of a caller is kept
/// whatever its size.
const MAX_KEPT_BYTES_OF_CALLER: usize = 8 * 1024 * 1024;

/// How many others capabilities are compared with. Clients of one kind declare the same ones.
const MAX_COMPARED: usize = 16;

/// The calls that wait for answers, and the outcomes of calls that have ended.
pub(crate) struct ParkTable {
    /// The number of this process.
    node: OnceLock<u64>,
    next: AtomicU64,
    calls: Mutex<ParkedCalls>,
    /// The capabilities of clients with parked calls. Equal ones are stored once, because many
    /// clients declare the same.
    capabilities: Mutex<Vec<Weak<ClientCapabilities>>>,
    /// Notified when the gateway closes.
    closed: Notify,
}

#[derive(Default)]
struct ParkedCalls {
    open: BTreeMap<u64, Arc<ParkedCall>>,
    /// Ordered from oldest to newest.
    kept: IndexMap<u64, KeptOutcome>,
    is_closed: bool,
}

struct KeptOutcome {
    call: Arc<ParkedCall>,
    until: Instant,
    bytes: usize,
}

impl Default for ParkTable {
    fn default() -> Self {
        Self {
            node: OnceLock::new(),
            next: AtomicU64::new(1),
            calls: Mutex::default(),
            capabilities: Mutex::default(),
            closed: Notify::new(),
        }
    }
}

impl ParkTable {
    /// The number of this process. It distinguishes processes and is not secret, so a simulation
    /// may choose it.
    pub(crate) fn node(&self) -> u64 {
        *self.node.get_or_init(jitter::random)
    }

    /// Sets the number under which other replicas know this process. It must be called before the
    /// first call.
    #[cfg(feature = "http")]
    pub(crate) fn set_node(&self, node: u64) {
        let _ = self.node.set(node);
    }

    /// The questions that wait for answers of their clients.
    pub(crate) fn waiting(&self) -> Vec<WaitingQuestion> {
        let calls: Vec<_> = self.calls.lock().open.values().cloned().collect();
        calls.iter().flat_map(|call| call.questions()).collect()
    }

    /// How many calls are parked.
    pub(crate) fn count(&self) -> usize {
        self.calls.lock().open.len()
    }

    /// Registers a call, if the limits allow it.
    pub(super) fn enter(
        &self,
        caller: Option<&str>,
        server: &str,
        call: impl FnOnce(u64) -> ParkedCall,
    ) -> Result<Arc<ParkedCall>, Reject> {
        let mut calls = self.calls.lock();
        let of_caller = calls.open.values().filter(|call| call.is_of(caller));
        let of_caller = of_caller.count();
        let of_server = calls
            .open
            .values()
            .filter(|call| call.server.as_str() == server);
        if calls.open.len() >= MAX_PARKED || of_server.count() >= MAX_PER_SERVER {
            return Err(Reject::internal(
                "too many calls are waiting for answers of users; try again later",
            ));
        }
        if of_caller >= MAX_PER_CALLER {
            return Err(Reject::internal(format!(
                "{MAX_PER_CALLER} of your calls are waiting for answers; answer them first"
            )));
        }
        if calls.is_closed {
            return Err(Reject::internal("the gateway is closing"));
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let call = Arc::new(call(number));
        calls.open.insert(number, Arc::clone(&call));
        Ok(call)
    }

    /// Returns capabilities equal to the given ones, shared with other parked calls if possible.
    pub(crate) fn share(&self, own: &Arc<ClientCapabilities>) -> Arc<ClientCapabilities> {
        let mut known = self.capabilities.lock();
        known.retain(|other| other.strong_count() > 0);
        // Limit the comparisons: large capabilities may differ only in the last byte.
        let latest = known.iter().rev().take(MAX_COMPARED);
        let mut others = latest.filter_map(Weak::upgrade);
        if let Some(same) = others.find(|other| other == own) {
            return same;
        }
        known.push(Arc::downgrade(own));
        Arc::clone(own)
    }

    /// The call with this number, whether it is still waiting or has ended.
    pub(super) fn find(&self, number: u64) -> Option<Arc<ParkedCall>> {
        let calls = self.calls.lock();
        if let Some(call) = calls.open.get(&number) {
            return Some(Arc::clone(call));
        }
        let kept = calls.kept.get(&number)?;
        (kept.until > Instant::now()).then(|| Arc::clone(&kept.call))
    }

    /// Removes a call.
    pub(super) fn remove(&self, number: u64) {
        let removed = self.calls.lock().open.remove(&number);
        drop(removed);
    }

    /// Keeps the outcome of a call, for a client that lost the answer and requests it again.
    pub(super) fn keep(&self, number: u64, bytes: usize, time: Duration) {
        let now = Instant::now();
        let mut calls = self.calls.lock();
        let Some(call) = calls.open.remove(&number) else {
            return;
        };
        let until = now + time;
        let mut dropped = calls.forget_old(now);
        calls
            .kept
            .insert(number, KeptOutcome { call, until, bytes });
        dropped.extend(calls.make_room());
        drop(calls);
    }

    /// Drops outcomes that were kept for long enough.
    pub(crate) fn tidy(&self) {
        let dropped = self.calls.lock().forget_old(Instant::now());
        drop(dropped);
    }

    /// Gives up all calls, and refuses new ones.
    pub(crate) fn close(&self) {
        let open: Vec<_> = {
            let mut calls = self.calls.lock();
            calls.is_closed = true;
            calls.open.values().cloned().collect()
        };
        for call in open {
            call.give_up();
        }
        self.closed.notify_waiters();
    }

    /// Waits until the gateway closes.
    pub(crate) async fn closed(&self) {
        let mut closed = pin!(self.closed.notified());
        closed.as_mut().enable();
        if !self.calls.lock().is_closed {
            closed.await;
        }
    }
}

impl ParkedCalls {
    fn forget_old(&mut self, now: Instant) -> Vec<KeptOutcome> {
        let is_old = |kept: &KeptOutcome| kept.until <= now;
        let old: Vec<u64> = self
            .kept
            .iter()
            .filter(|(_, kept)| is_old(kept))
            .map(|(number, _)| *number)
            .collect();
        old.iter()
            .filter_map(|number| self.kept.shift_remove(number))
            .collect()
    }

    /// Removes outcomes beyond the limits. The newest outcome is the last one.
    fn make_room(&mut self) -> Vec<KeptOutcome> {
        let mut dropped = Vec::new();
        let Some((_, newest)) = self.kept.last() else {
            return dropped;
        };
        let caller = newest.call.caller.clone();
        let is_own = |kept: &KeptOutcome| kept.call.caller == caller;
        let mut own: usize = self.sizes(is_own);
        while own > MAX_KEPT_BYTES_OF_CALLER {
            let oldest = self.kept.values().position(is_own);
            // Keep the newest outcome.
            let Some(place) = oldest.filter(|place| place + 1 < self.kept.len()) else {
                break;
            };
            if let Some((_, kept)) = self.kept.shift_remove_index(place) {
                own -= kept.bytes;
                dropped.push(kept);
            }
        }
        let mut all = self.sizes(|_| true);
        while self.kept.len() > MAX_KEPT || (all > MAX_KEPT_BYTES && self.kept.len() > 1) {
            let Some((_, kept)) = self.kept.shift_remove_index(0) else {
                break;
            };
            all -= kept.bytes;
            dropped.push(kept);
        }
        dropped
    }

    fn sizes(&self, counts: impl Fn(&KeptOutcome) -> bool) -> usize {
        let kept = self.kept.values().filter(|kept| counts(kept));
        kept.map(|kept| kept.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnbuckle_protocol::Revision;

    fn park(table: &ParkTable, caller: &str) -> Result<u64, Reject> {
        let revision = Revision::LATEST_LEGACY;
        let entered = table.enter(Some(caller), "s", |number| {
            ParkedCall::new(number, Some(caller), "s".into(), None, revision, None)
        });
        entered.map(|call| call.number)
    }

    #[test]
    fn outcomes_are_kept_within_bounds_for_each_caller() {
        let table = ParkTable::default();
        let minute = Duration::from_mins(1);
        let ada = park(&table, "ada").unwrap();
        table.keep(ada, 1_000, minute);
        let mut newest = 0;
        for _ in 0..100 {
            newest = park(&table, "eve").unwrap();
            table.keep(newest, MAX_KEPT_BYTES_OF_CALLER / 2 + 1, minute);
        }
        assert!(
            table.find(ada).is_some(),
            "eve's outcomes leave ada's alone"
        );
        assert!(table.find(newest).is_some());
        assert_eq!(table.calls.lock().kept.len(), 2);
        let large = park(&table, "eve").unwrap();
        table.keep(large, 10 * MAX_KEPT_BYTES_OF_CALLER, minute);
        assert!(table.find(large).is_some() && table.find(newest).is_none());
        assert_eq!(table.count(), 0);
        let over = park(&table, "bob").unwrap();
        table.keep(over, 1, Duration::ZERO);
        assert!(table.find(over).is_none());
        table.tidy();
        assert!(!table.calls.lock().kept.contains_key(&over));
    }

    #[test]
    fn a_caller_parks_so_many_calls_and_a_closed_table_takes_none() {
        let table = ParkTable::default();
        for _ in 0..MAX_PER_CALLER {
            assert!(park(&table, "ada").is_ok());
        }
        assert!(park(&table, "ada").is_err());
        assert!(park(&table, "eve").is_ok());
        table.close();
        assert!(park(&table, "eve").is_err());
    }
}
