//! Consents of users that were used. Each is valid for one call: if a client sends its answer
//! again, it gets the outcome of that call, and the call does not run again.

use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use indexmap::IndexMap;
use tokio::sync::watch;
use turnbuckle_base::{jitter, lock::Mutex};
use turnbuckle_server::{Reject, RelayReply};
use turnbuckle_store::{MemoryUsedStates, StateClaim, StateUse, UsedStates as _};

use super::asking::ANSWER_WITHIN;
use crate::seal;

/// How many outcomes are kept for clients that lost the answer.
const MAX_KEPT: usize = 256;

/// How many bytes of outcomes are kept.
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// The consents that were used in this process.
#[derive(Default)]
pub(super) struct Consents {
    node: OnceLock<u64>,
    next: AtomicU64,
    used_states: MemoryUsedStates,
    outcomes: Arc<Mutex<IndexMap<u64, Outcome>>>,
}

/// The outcome of a call, available once the call is over.
struct Outcome {
    reply: watch::Receiver<Option<RelayReply>>,
    bytes: usize,
}

/// What happens with an answer that allows a call.
pub(super) enum Used {
    /// The call runs now and reports its outcome here.
    Now(Ending),
    /// The call is already running or has run; this receives its outcome.
    Before(watch::Receiver<Option<RelayReply>>),
    /// The call does not run.
    Refused(Reject),
}

/// Receives the outcome of a call.
pub(super) struct Ending {
    number: u64,
    reply: watch::Sender<Option<RelayReply>>,
    outcomes: Arc<Mutex<IndexMap<u64, Outcome>>>,
}

impl Consents {
    /// The number of this process. It distinguishes processes and need not be secret.
    pub(super) fn node(&self) -> u64 {
        *self.node.get_or_init(jitter::random)
    }

    /// Sets the number under which other replicas know this process. It must be called before the
    /// first question.
    #[cfg(feature = "http")]
    pub(super) fn set_node(&self, node: u64) {
        let _ = self.node.set(node);
    }

    /// A new number for a question.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Uses the consent to a question of this process.
    pub(super) async fn spend(&self, caller: Option<&str>, number: u64) -> Used {
        let mut owner = DefaultHasher::new();
        caller.hash(&mut owner);
        let now = seal::now() / 1_000;
        let expires = now + ANSWER_WITHIN.as_secs();
        let id = number.to_be_bytes();
        let used = StateUse::new(&id, owner.finish(), expires, now);
        // Register first, so that a concurrent request with the same answer finds this one.
        let ending = match self.begin(number) {
            Ok(ending) => ending,
            Err(reply) => return Used::Before(reply),
        };
        let claim = self.used_states.claim(used).await;
        if !matches!(claim, Ok(StateClaim::FirstUse)) {
            self.outcomes.lock().shift_remove(&number);
        }
        match claim {
            Ok(StateClaim::FirstUse) => Used::Now(ending),
            Ok(StateClaim::AlreadyUsed) => Used::Refused(used_up()),
            Ok(StateClaim::TooMany { limit }) => Used::Refused(Reject::internal(format!(
                "{limit} calls were allowed by their users within ten minutes; try again later"
            ))),
            Err(error) => Used::Refused(Reject::internal(error.to_string())),
        }
    }

    /// Registers a call. If the number was used before, returns the receiver of that call's outcome.
    fn begin(&self, number: u64) -> Result<Ending, watch::Receiver<Option<RelayReply>>> {
        let (sender, reply) = watch::channel(None);
        let mut outcomes = self.outcomes.lock();
        if let Some(outcome) = outcomes.get(&number) {
            return Err(outcome.reply.clone());
        }
        outcomes.insert(number, Outcome { reply, bytes: 0 });
        make_room(&mut outcomes);
        Ok(Ending {
            number,
            reply: sender,
            outcomes: Arc::clone(&self.outcomes),
        })
    }
}

impl Ending {
    /// Keeps the outcome of the call for a while.
    pub(super) fn end(self, reply: &RelayReply) {
        let bytes = match reply {
            RelayReply::Result(result) => result.len(),
            RelayReply::Error(_, error) => error.raw().get().len(),
            _ => 0,
        };
        if bytes > MAX_KEPT_BYTES / 16 {
            return;
        }
        self.reply.send_replace(Some(reply.clone()));
        let mut outcomes = self.outcomes.lock();
        if let Some(outcome) = outcomes.get_mut(&self.number) {
            outcome.bytes = bytes;
        }
        make_room(&mut outcomes);
    }
}

/// Removes the oldest outcomes while the limits are exceeded.
fn make_room(outcomes: &mut IndexMap<u64, Outcome>) {
    let mut bytes: usize = outcomes.values().map(|outcome| outcome.bytes).sum();
    while outcomes.len() > MAX_KEPT || bytes > MAX_KEPT_BYTES {
        let Some((_, oldest)) = outcomes.shift_remove_index(0) else {
            break;
        };
        bytes -= oldest.bytes;
    }
}

/// Waits for the outcome of a call that another request began.
pub(super) async fn joined(mut reply: watch::Receiver<Option<RelayReply>>) -> RelayReply {
    match reply.wait_for(Option::is_some).await {
        Ok(reply) => reply.clone().unwrap_or_else(|| used_up().into()),
        Err(_) => used_up().into(),
    }
}

/// The error if the call ran and its outcome is no longer known, or the call was cancelled.
fn used_up() -> Reject {
    Reject::invalid_params(
        "the user's consent was for one call and has been used. Send the call without `requestState` to \
         ask again",
    )
}
