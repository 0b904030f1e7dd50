//! Limits of callers that replicas share: how often a caller has asked of late, and how much it has
//! open at each replica.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, SystemTime},
};

use turnbuckle_base::lock::Mutex;

use crate::{BoxFuture, StoreError, bus::NodeId, task::millis};

/// Microseconds in a second.
const SECOND: u64 = 1_000_000;

/// Callers that memory holds. Beyond it those that have asked for nothing of late are forgotten.
const MAX_CALLERS: usize = 10_000;

/// A request for a part of a rate that all replicas share.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RateRequest<'a> {
    /// Who it is, the same at all replicas.
    pub caller: &'a str,
    /// What is limited.
    pub limit: &'a str,
    /// How often it may happen at once.
    pub burst: u32,
    /// How often it may happen in each second after that.
    pub per_second: u32,
    /// How often it has happened that was not counted yet.
    pub owed: u32,
    /// How often it shall be allowed from now on.
    pub wanted: u32,
}

impl<'a> RateRequest<'a> {
    /// A request that takes nothing yet, of a rate of so much at once and so much in each second.
    pub fn new(caller: &'a str, limit: &'a str, burst: u32, per_second: u32) -> Self {
        Self {
            caller,
            limit,
            burst,
            per_second: per_second.max(1),
            owed: 0,
            wanted: 0,
        }
    }

    /// How long it takes until it may happen once more, at an even pace, in microseconds.
    pub(crate) fn pause(&self) -> u64 {
        (SECOND / u64::from(self.per_second)).max(1)
    }
}

/// The part of a rate that was granted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateGrant {
    /// How often it may happen from now on.
    pub granted: u32,
    /// How long until it may happen again, if it may not now.
    pub wait: Duration,
}

impl RateGrant {
    /// So much was granted, and there will be more after this time.
    pub fn new(granted: u32, wait: Duration) -> Self {
        Self { granted, wait }
    }
}

/// How much a caller has open at one replica.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenCount<'a> {
    /// Who it is, the same at all replicas.
    pub caller: &'a str,
    /// What is limited.
    pub limit: &'a str,
    /// The replica.
    pub node: NodeId,
    /// How much it is.
    pub count: u64,
    /// How long this is true, unless it is said again.
    pub keep: Duration,
}

impl<'a> OpenCount<'a> {
    /// A caller has this much open at this replica, which is true for this long.
    pub fn new(caller: &'a str, limit: &'a str, node: NodeId, count: u64, keep: Duration) -> Self {
        Self {
            caller,
            limit,
            node,
            count,
            keep,
        }
    }
}

/// Where replicas count together what callers use. What each method promises is tested by
/// `contract::limits`.
///
/// A server asks only for callers who use a large part of a limit.
pub trait SharedLimits: Send + Sync + 'static {
    /// Takes what is owed from the rate, and grants as much of what is wanted as there is.
    fn take<'a>(
        &'a self,
        request: RateRequest<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<RateGrant, StoreError>>;

    /// Reports how much a caller has open at a replica, and returns what is known of all replicas.
    fn report_open<'a>(
        &'a self,
        open: OpenCount<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(NodeId, u64)>, StoreError>>;
}

/// Limits in the memory of one process, for tests with several servers.
#[derive(Default)]
pub struct MemorySharedLimits {
    /// When the next time would be due at an even pace, in microseconds since 1970.
    due: Mutex<HashMap<(String, String), u64>>,
    held: Mutex<HashMap<(String, String), Held>>,
}

/// How much there is at each replica, and until when that is true, in milliseconds since 1970.
type Held = BTreeMap<NodeId, (u64, u64)>;

impl MemorySharedLimits {
    fn take_now(&self, request: &RateRequest<'_>, now: SystemTime) -> RateGrant {
        let (now, pause) = (millis(now).saturating_mul(1000), request.pause());
        let mut table = self.due.lock();
        if table.len() >= MAX_CALLERS {
            table.retain(|_, due| *due > now);
        }
        let key = (request.caller.to_owned(), request.limit.to_owned());
        let due = table.entry(key).or_default();
        let whole = pause.saturating_mul(u64::from(request.burst));
        let owed = pause.saturating_mul(u64::from(request.owed));
        // The debt is at most the whole capacity, so that no caller waits longer than that.
        let mut next = (*due).max(now).saturating_add(owed).min(now + whole);
        let room = (now + whole - next) / pause;
        let granted = u32::try_from(room).unwrap_or(u32::MAX).min(request.wanted);
        next += pause * u64::from(granted);
        *due = next;
        let wait = (next + pause).saturating_sub(now + whole);
        RateGrant::new(granted, Duration::from_micros(wait))
    }

    fn report_open_now(&self, open: &OpenCount<'_>, now: SystemTime) -> Vec<(NodeId, u64)> {
        let now = millis(now);
        let keep = u64::try_from(open.keep.as_millis()).unwrap_or(u64::MAX);
        let mut table = self.held.lock();
        if table.len() >= MAX_CALLERS {
            table.retain(|_, held| held.values().any(|(_, until)| *until > now));
        }
        let key = (open.caller.to_owned(), open.limit.to_owned());
        let held = table.entry(key).or_default();
        held.insert(open.node, (open.count, now.saturating_add(keep)));
        held.retain(|_, (_, until)| *until > now);
        let held = held.iter().map(|(node, (count, _))| (*node, *count));
        held.collect()
    }
}

impl SharedLimits for MemorySharedLimits {
    fn take<'a>(
        &'a self,
        request: RateRequest<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<RateGrant, StoreError>> {
        let grant = self.take_now(&request, now);
        Box::pin(std::future::ready(Ok(grant)))
    }

    fn report_open<'a>(
        &'a self,
        open: OpenCount<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(NodeId, u64)>, StoreError>> {
        let held = self.report_open_now(&open, now);
        Box::pin(std::future::ready(Ok(held)))
    }
}
