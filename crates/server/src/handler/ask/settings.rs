//! The settings of calls that wait for answers: for how long, how large their state may be, and
//! whether a state can be used twice.

use std::{sync::Arc, time::Duration};

use turnbuckle_base::lock::RwLock;
use turnbuckle_session::round::{KeyRing, seal::MAX_STATE_BYTES};
use turnbuckle_store::{MemoryUsedStates, UsedStates};

/// How long a client may take before its retry is refused. It gives a person time to look something
/// up, but a state that was stolen from a log cannot be used on the next day.
const ANSWER_WITHIN: Duration = Duration::from_hours(1);

#[derive(Clone)]
pub(crate) struct AskSettings {
    pub(crate) answer_within: Duration,
    /// The length of the text in the message.
    pub(crate) max_state_bytes: usize,
    /// Where used states are recorded, if each state may be used only once.
    pub(crate) used_states: Option<Arc<dyn UsedStates>>,
    /// Whether answers without a state are refused and asked for again. Their age and their caller
    /// are unknown, so an author who has set a time limit or a store wants no such answers.
    pub(crate) needs_state: bool,
    /// Whether questions in a session are sent as tasks, if the client supports that.
    pub(crate) asks_by_tasks: bool,
}

/// The shared settings of all questions.
pub(crate) struct AskContext {
    pub(crate) settings: AskSettings,
    /// The keys that encrypt the journal between rounds.
    keys: RwLock<Arc<KeyRing>>,
}

impl AskContext {
    pub(crate) fn new(settings: AskSettings, keys: KeyRing) -> Self {
        Self {
            settings,
            keys: RwLock::new(Arc::new(keys)),
        }
    }

    /// Returns the current keys.
    pub(crate) fn keys(&self) -> Arc<KeyRing> {
        Arc::clone(&self.keys.read())
    }

    /// Encrypts and decrypts with these keys from now on.
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
