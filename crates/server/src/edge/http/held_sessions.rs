//! The number of sessions that a caller has on all replicas together.
//!
//! While a caller has few sessions on this replica, the store is not asked: so few that all
//! replicas together have at most half of the caller's limit. Beyond that, this replica stores how
//! many sessions it has opened, after the answer to `initialize`, and learns how many the others
//! have.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::time::Instant;
use turnbuckle_base::{lock::Mutex, wall_clock};
use turnbuckle_store::limit::{OpenCount, SharedLimits};

use crate::{quota::CallerKey, replica::Replicas};

/// The name of the setting.
const LIMIT: &str = "max_sessions_per_caller";

/// How long a stored number is valid, and how often a replica stores it again.
const KEEP: Duration = Duration::from_mins(1);
pub(super) const SAY_AGAIN: Duration = Duration::from_secs(20);

/// How long the store may take.
const SAY_WITHIN: Duration = Duration::from_secs(1);

/// How many callers are counted in the store at a time. Others are counted only by this replica.
const MAX_CALLERS: usize = 4096;

/// The sessions that other replicas have opened.
pub(super) struct HeldSessions {
    limits: Arc<dyn SharedLimits>,
    replicas: Arc<Replicas>,
    max: usize,
    callers: Mutex<HashMap<CallerKey, HeldElsewhere>>,
}

/// The sessions that other replicas have opened for one caller.
struct HeldElsewhere {
    /// The key of the caller on all replicas.
    name: Arc<str>,
    count: u64,
    heard: Option<Instant>,
    is_asking: bool,
}

impl HeldSessions {
    /// Returns `None` if the store cannot count for all replicas.
    pub(super) fn new(replicas: &Arc<Replicas>, max: usize) -> Option<Arc<Self>> {
        Some(Arc::new(Self {
            limits: Arc::clone(replicas.limits.as_ref()?),
            replicas: Arc::clone(replicas),
            max,
            callers: Mutex::default(),
        }))
    }

    /// How many sessions of a caller this replica opens without asking the store.
    pub(super) fn share(&self) -> usize {
        self.max / self.replicas.nodes().len().saturating_mul(2).max(2)
    }

    /// How many sessions of a caller other replicas have opened, as far as this one knows. If the
    /// store cannot be reached, the number is forgotten after a minute, and each replica counts on
    /// its own.
    pub(super) fn elsewhere(&self, caller: CallerKey) -> usize {
        let callers = self.callers.lock();
        let held = callers.get(&caller);
        let held = held.filter(|held| held.heard.is_some_and(|heard| heard.elapsed() < KEEP));
        held.map_or(0, |held| usize::try_from(held.count).unwrap_or(usize::MAX))
    }

    /// The callers who are counted in the store.
    pub(super) fn callers(&self) -> Vec<CallerKey> {
        self.callers.lock().keys().copied().collect()
    }

    /// Stores again how many sessions of a caller this replica has opened. A caller that has few
    /// sessions again is no longer counted in the store.
    pub(super) fn say_again(self: &Arc<Self>, caller: CallerKey, count: usize) {
        let name = {
            let mut callers = self.callers.lock();
            if count <= self.share() {
                callers.remove(&caller);
                return;
            }
            callers.get(&caller).map(|held| Arc::clone(&held.name))
        };
        if let Some(name) = name {
            self.say(caller, count, || name);
        }
    }

    /// Stores how many sessions of a caller this replica has opened, and learns how many the others
    /// have opened. It does not wait.
    pub(super) fn say(
        self: &Arc<Self>,
        caller: CallerKey,
        count: usize,
        name: impl FnOnce() -> Arc<str>,
    ) {
        let mut callers = self.callers.lock();
        if callers.len() >= MAX_CALLERS && !callers.contains_key(&caller) {
            return;
        }
        let held = callers.entry(caller).or_insert_with(|| HeldElsewhere {
            name: name(),
            count: 0,
            heard: None,
            is_asking: false,
        });
        if std::mem::replace(&mut held.is_asking, true) {
            return;
        }
        let name = Arc::clone(&held.name);
        drop(callers);
        let shared = Arc::clone(self);
        // This task ends with the answer of the store, or after a timeout.
        self.replicas.spawn(async move {
            let node = shared.replicas.node;
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            let open = OpenCount::new(&name, LIMIT, node, count, KEEP);
            let saying = shared.limits.report_open(open, wall_clock::now());
            let held = match tokio::time::timeout(SAY_WITHIN, saying).await {
                Ok(Ok(held)) => Some(held),
                Ok(Err(error)) => {
                    tracing::warn!(
                        %error,
                        "the shared store failed: for now this replica limits only its own sessions"
                    );
                    None
                }
                Err(_) => None,
            };
            let there = shared.replicas.nodes();
            let elsewhere = held.map(|held| {
                let others = held
                    .iter()
                    .filter(|(at, _)| *at != node && there.contains(at));
                others.map(|(_, count)| count).sum()
            });
            if let Some(held) = shared.callers.lock().get_mut(&caller) {
                held.is_asking = false;
                if let Some(elsewhere) = elsewhere {
                    held.count = elsewhere;
                    held.heard = Some(Instant::now());
                }
            }
        });
    }
}
