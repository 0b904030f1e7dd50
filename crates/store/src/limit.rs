//! Limits of callers that replicas share: how often a caller may make requests, and how much it may
//! have open at all replicas together.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, SystemTime},
};

use turnbuckle_base::lock::Mutex;

use crate::{BoxFuture, StoreError, bus::NodeId, task::millis};

/// Microseconds in a second.
const SECOND: u64 = 1_000_000;

/// How many callers memory holds. Beyond this number, callers without recent requests are forgotten.
const MAX_CALLERS: usize = 10_000;

/// A request for a share of a rate that all replicas use together.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RateRequest<'a> {
    /// The id of the caller, which is the same at all replicas.
    pub caller: &'a str,
    /// The name of the limit.
    pub limit: &'a str,
    /// How many uses are allowed at once.
    pub burst: u32,
    /// How many further uses are allowed per second.
    pub per_second: u32,
    /// How many past uses have not been counted yet.
    pub owed: u32,
    /// How many future uses are requested.
    pub wanted: u32,
}

impl<'a> RateRequest<'a> {
    /// Makes a request that takes nothing yet, for a rate of this many uses at once and this many
    /// per second.
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

    /// The time between two uses at an even pace, in microseconds.
    pub(crate) fn pause(&self) -> u64 {
        (SECOND / u64::from(self.per_second)).max(1)
    }
}

/// The granted share of a rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RateGrant {
    /// How many uses are granted.
    pub granted: u32,
    /// How long to wait until another use is possible, if none is now.
    pub wait: Duration,
}

impl RateGrant {
    /// A grant of this many uses, with the time until more are available.
    pub fn new(granted: u32, wait: Duration) -> Self {
        Self { granted, wait }
    }
}

/// How much a caller has open at one replica.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OpenCount<'a> {
    /// The id of the caller, which is the same at all replicas.
    pub caller: &'a str,
    /// The name of the limit.
    pub limit: &'a str,
    /// The replica.
    pub node: NodeId,
    /// The number of open items.
    pub count: u64,
    /// How long the count is valid, unless it is reported again.
    pub keep: Duration,
}

impl<'a> OpenCount<'a> {
    /// Makes a count for this caller, limit and replica, which is valid for this long.
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

/// Counts what callers use at all replicas together. `contract::limits` tests the guarantees of
/// each method.
///
/// A server uses it only for callers that use a large part of a limit.
pub trait SharedLimits: Send + Sync + 'static {
    /// Counts the owed uses against the rate, and grants as many of the wanted ones as are available.
    fn take<'a>(
        &'a self,
        request: RateRequest<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<RateGrant, StoreError>>;

    /// Reports how much a caller has open at a replica, and returns the counts of all replicas.
    fn report_open<'a>(
        &'a self,
        open: OpenCount<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(NodeId, u64)>, StoreError>>;
}

/// Limits in the memory of one process, for tests with several servers.
#[derive(Default)]
pub struct MemorySharedLimits {
    /// The time at which the next use is due at an even pace, in microseconds since 1970.
    due: Mutex<HashMap<(String, String), u64>>,
    held: Mutex<HashMap<(String, String), Held>>,
}

/// The count of each replica, and until when it is valid, in milliseconds since 1970.
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
        // The debt is at most the whole capacity, which also limits how long a caller has to wait.
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
