//! Turns on one connection: where nothing says which call a question belongs to, tools that ask run one
//! after the other. A call that waits for its user lets the others go on.

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

/// How long a call waits for another call that may be asked, on the same process. Clients give up after a
/// minute, so they are told before.
const TURN_WITHIN: Duration = Duration::from_secs(45);

/// How long a call keeps its turn after it has asked. A tool that asks several things at once has asked
/// all of them by then.
const ASKS_WITHIN: Duration = Duration::from_millis(100);

/// The turn of one call.
pub(crate) struct Turn {
    /// `None` where no turn is needed: another sign says which call a question belongs to.
    turns: Option<Arc<Semaphore>>,
    state: Mutex<TurnState>,
    /// Whether the call keeps its turn while it waits: its tool asks again before it is answered.
    is_kept: AtomicBool,
}

#[derive(Default)]
struct TurnState {
    permit: Option<OwnedSemaphorePermit>,
    is_over: bool,
    /// Since when the call waits for answers of its client.
    waits_since: Option<Instant>,
    /// The task that lets others have their turn if the call does not ask for long.
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

    /// Waits for the turn of the call, and keeps it.
    ///
    /// # Errors
    /// If another call keeps its turn for too long. The text says so.
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

    /// Lets others have their turn while the user of this call is asked.
    pub(crate) fn give(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.waits_since = Some(Instant::now());
        if state.permit.is_none() {
            return;
        }
        drop(state);
        let turn = Arc::clone(self);
        // It ends by itself, in a moment.
        tokio::spawn(async move {
            time::sleep(ASKS_WITHIN).await;
            let mut state = turn.state.lock();
            if state.waits_long() && !turn.is_kept() {
                state.permit = None;
            }
        });
    }

    /// Lets others have their turn although the call goes on: it has not asked for so long that it may
    /// never do.
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

    /// Whether the user of the call is asked.
    pub(super) fn waits(&self) -> bool {
        self.state.lock().waits_since.is_some()
    }

    /// Whether its user has been asked for so long that a tool that asks several things at once has asked
    /// all of them.
    pub(super) fn waits_long(&self) -> bool {
        self.state.lock().waits_long()
    }

    /// Whether a question that comes now may be one of this call: it does not wait for an answer, or it
    /// has just begun to, or its tool asks again before it is answered.
    pub(super) fn may_ask(&self) -> bool {
        let state = self.state.lock();
        self.is_kept() || !state.waits_long()
    }

    /// The call is over.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.permit = None;
        if let Some(release) = state.release.take() {
            release.abort();
        }
    }

    /// Sets the task that is to [release](Self::release) the turn, and ends with the call.
    pub(super) fn set_release(&self, task: AbortHandle) {
        self.state.lock().release = Some(task);
    }
}
