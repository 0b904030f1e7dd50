//! What becomes of a call between its rounds: how long it may take, how much it may hold, and
//! whether it may go on twice.

use std::{fmt, sync::Arc, time::Duration};

use turnbuckle_session::round::seal::MAX_STATE_BYTES;
use turnbuckle_store::SpentStates;

/// How long a client may take before its retry is refused. A person may go and look something up;
/// a box that is stolen from a log should not open tomorrow.
const ANSWER_WITHIN: Duration = Duration::from_hours(1);

#[derive(Clone)]
pub(crate) struct RoundSettings {
    pub(crate) answer_within: Duration,
    /// Of the text, as it stands in the message.
    pub(crate) max_state_bytes: usize,
    /// Where states are spent, if each counts once.
    pub(crate) spent: Option<Arc<dyn SpentStates>>,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            answer_within: ANSWER_WITHIN,
            max_state_bytes: MAX_STATE_BYTES,
            spent: None,
        }
    }
}

impl fmt::Debug for RoundSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RoundSettings")
            .field("answer_within", &self.answer_within)
            .field("max_state_bytes", &self.max_state_bytes)
            .field("is_single_use", &self.spent.is_some())
            .finish()
    }
}
