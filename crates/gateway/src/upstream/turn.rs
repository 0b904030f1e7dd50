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
    time,
};
use turnbuckle_base::lock::Mutex;

/// How long a call waits for another call that may be asked, on the same process.
const TURN_WITHIN: Duration = Duration::from_mins(2);

/// The turn of one call.
pub(crate) struct Turn {
    /// `None` where no turn is needed: another sign says which call a question belongs to.
    turns: Option<Arc<Semaphore>>,
    state: Mutex<TurnState>,
    /// Set while the call waits for answers of its client.
    waits: AtomicBool,
}

#[derive(Default)]
struct TurnState {
    permit: Option<OwnedSemaphorePermit>,
    is_over: bool,
}

impl Turn {
    pub(super) fn new(turns: Option<Arc<Semaphore>>) -> Self {
        Self {
            turns,
            state: Mutex::default(),
            waits: AtomicBool::new(false),
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
        self.waits.store(false, Ordering::Release);
        Ok(())
    }

    fn needs_permit(&self) -> bool {
        let state = self.state.lock();
        state.permit.is_none() && !state.is_over
    }

    /// Lets others have their turn while the user of this call is asked.
    pub(crate) fn give(&self) {
        self.waits.store(true, Ordering::Release);
        self.state.lock().permit = None;
    }

    /// Whether the call waits for its user.
    pub(super) fn waits(&self) -> bool {
        self.waits.load(Ordering::Acquire)
    }

    /// The call is over.
    pub(super) fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.permit = None;
    }
}
