//! Turns of calls on one connection: if nothing identifies the call of a question, calls of tools
//! that ask run one after the other. A call that waits for its user lets the others run.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::AbortHandle,
    time::{self, Instant},
};
use turnbuckle_base::lock::Mutex;

/// How long a call waits for another call that may be asked in the same process. Clients give up
/// after a minute, so they get an error before that.
const TURN_WITHIN: Duration = Duration::from_secs(45);

/// How long a call keeps its turn after it has asked. A tool that asks several questions at once
/// has asked all of them by then.
const ASKS_WITHIN: Duration = Duration::from_millis(100);

/// The turn of one call.
pub(crate) struct Turn {
    /// `None` if no turn is needed, because questions identify their call.
    turns: Option<Arc<Semaphore>>,
    state: Mutex<TurnState>,
    /// Whether the call keeps its turn while it waits, because its tool asks again before it gets
    /// an answer.
    is_kept: AtomicBool,
}

#[derive(Default)]
struct TurnState {
    permit: Option<OwnedSemaphorePermit>,
    is_over: bool,
    /// Since when the call has been waiting for answers of its client.
    waits_since: Option<Instant>,
    /// The task that releases the turn if the call does not ask for a long time.
    release: Option<AbortHandle>,
}

impl TurnState {
    fn waits_long(&self) -> bool {
        self.waits_since
            .is_some_and(|since| since.elapsed() >= ASKS_WITHIN)
    }
}

impl Turn {
    pub(super) fn new(turns: Option<Arc<Semaphore>>) -> Self {
        Self {
            turns,
            state: Mutex::default(),
            is_kept: AtomicBool::new(false),
        }
    }

    /// Waits for the turn of the call, and holds it.
    ///
    /// # Errors
    /// A text for the client if another call keeps its turn for too long.
    pub(crate) async fn take(&self) -> Result<(), String> {
        if let Some(turns) = &self.turns
            && self.needs_permit()
        {
            let turn = Arc::clone(turns).acquire_owned();
            let Ok(permit) = time::timeout(TURN_WITHIN, turn).await else {
                return Err(format!(
                    "another call that may ask its user has run for more than {TURN_WITHIN:?}; \
                     try again later"
                ));
            };
            let mut state = self.state.lock();
            if !state.is_over {
                state.permit = permit.ok();
            }
        }
        self.state.lock().waits_since = None;
        Ok(())
    }

    fn needs_permit(&self) -> bool {
        let state = self.state.lock();
        state.permit.is_none() && !state.is_over
    }

    /// Lets other calls have their turn while the user of this call is asked.
    pub(crate) fn give(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.waits_since = Some(Instant::now());
        if state.permit.is_none() {
            return;
        }
        drop(state);
        let turn = Arc::clone(self);
        // The task ends by itself after a moment.
        tokio::spawn(async move {
            time::sleep(ASKS_WITHIN).await;
            let mut state = turn.state.lock();
            if state.waits_long() && !turn.is_kept() {
                state.permit = None;
            }
        });
    }

    /// Lets other calls have their turn while this call runs: it has not asked for so long that it
    /// may never ask.
    pub(super) fn release(&self) {
        self.state.lock().permit = None;
    }

    /// Keeps the turn while the user of the call is asked.
    pub(super) fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Whether the call waits for its user.
    pub(super) fn waits(&self) -> bool {
        self.state.lock().waits_since.is_some()
    }

    /// Whether the call has waited for its user for so long that a tool that asks several questions
    /// at once has asked all of them.
    pub(super) fn waits_long(&self) -> bool {
        self.state.lock().waits_long()
    }

    /// Whether a question that arrives now may belong to this call: it is not waiting for an
    /// answer, it has just begun to wait, or its tool asks again before it gets an answer.
    pub(super) fn may_ask(&self) -> bool {
        let state = self.state.lock();
        self.is_kept() || !state.waits_long()
    }

    /// Ends the turn, because the call is over.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.permit = None;
        if let Some(release) = state.release.take() {
            release.abort();
        }
    }

    /// Sets the task that [releases](Self::release) the turn. It is aborted when the call ends.
    pub(super) fn set_release(&self, task: AbortHandle) {
        self.state.lock().release = Some(task);
    }
}
