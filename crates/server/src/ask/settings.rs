//! What becomes of a call between its rounds: how long it may take, how much it may hold.

use std::time::Duration;

use turnbuckle_session::round::seal::MAX_STATE_BYTES;

/// How long a client may take before its retry is refused. A person may go and look something up;
/// a box that is stolen from a log should not open tomorrow.
const ANSWER_WITHIN: Duration = Duration::from_hours(1);

#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundSettings {
    pub(crate) answer_within: Duration,
    /// Of the text, as it stands in the message.
    pub(crate) max_state_bytes: usize,
}

impl Default for RoundSettings {
    fn default() -> Self {
        Self {
            answer_within: ANSWER_WITHIN,
            max_state_bytes: MAX_STATE_BYTES,
        }
    }
}
