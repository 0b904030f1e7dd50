//! What becomes of a call between its rounds: how long it may take, how much it may hold, and
//! whether it may go on twice.

use std::{sync::Arc, time::Duration};

use turnbuckle_base::lock::RwLock;
use turnbuckle_session::round::{KeyRing, seal::MAX_STATE_BYTES};
use turnbuckle_store::{MemoryUsedStates, UsedStates};

/// How long a client may take before its retry is refused. A person may go and look something up;
/// a box that is stolen from a log should not open tomorrow.
const ANSWER_WITHIN: Duration = Duration::from_hours(1);

#[derive(Clone)]
pub(crate) struct AskSettings {
    pub(crate) answer_within: Duration,
    /// Of the text as it is in the message.
    pub(crate) max_state_bytes: usize,
    /// Where used states are recorded, if each state may be used only once.
    pub(crate) used_states: Option<Arc<dyn UsedStates>>,
    /// Whether answers that come without a state are asked for again: they know no time and no
    /// caller, and an author who set one means it.
    pub(crate) needs_state: bool,
    /// Whether a session is asked by tasks of its own, where it has them.
    pub(crate) asks_by_tasks: bool,
}

/// The shared settings of all questions.
pub(crate) struct AskContext {
    pub(crate) settings: AskSettings,
    /// Seals what a handler knows between rounds.
    keys: RwLock<Arc<KeyRing>>,
}

impl AskContext {
    pub(crate) fn new(settings: AskSettings, keys: KeyRing) -> Self {
        Self {
            settings,
            keys: RwLock::new(Arc::new(keys)),
        }
    }

    /// The keys as they are now.
    pub(crate) fn keys(&self) -> Arc<KeyRing> {
        Arc::clone(&self.keys.read())
    }

    /// Seals and opens with these from now on.
    pub(crate) fn set_keys(&self, keys: KeyRing) {
        *self.keys.write() = Arc::new(keys);
    }
}

impl Default for AskSettings {
    fn default() -> Self {
        Self {
            answer_within: ANSWER_WITHIN,
            max_state_bytes: MAX_STATE_BYTES,
            used_states: Some(Arc::new(MemoryUsedStates::default())),
            needs_state: false,
            asks_by_tasks: false,
        }
    }
}
