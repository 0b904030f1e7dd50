//! Which errors are temporary.

use turnbuckle_protocol::error::code;

use super::CallError;

impl CallError {
    /// Whether the error is temporary: the server could not be reached or failed internally. The server
    /// would refuse a rejected request again.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Rejected { error, .. } => error.code == code::INTERNAL_ERROR,
            Self::Status { status, .. } => {
                matches!(status, 408 | 425 | 429) || (500..600).contains(status)
            }
            Self::Lost { .. }
            | Self::Unsent { .. }
            | Self::Deadline { .. }
            | Self::Busy { .. }
            | Self::SessionExpired { .. }
            | Self::Malformed { .. }
            | Self::Closed { .. } => true,
            _ => false,
        }
    }
}
