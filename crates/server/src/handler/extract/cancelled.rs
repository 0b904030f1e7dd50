//! Whether the call was cancelled.

use super::Extract;
use crate::{Call, Failure, client::CancelFlag};

/// Tells work that a drop does not reach that the call was cancelled.
///
/// A cancelled handler is dropped at its next `.await`, so most handlers need nothing. Move this
/// into a blocking thread, or into a task that outlives the handler.
#[derive(Clone, Debug)]
pub struct Cancelled(CancelFlag);

impl Cancelled {
    /// Whether the call was cancelled or its connection ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set()
    }

    /// Waits until the call is cancelled; for ever if it is not.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait(&self) {
        self.0.wait().await;
    }
}

impl Extract for Cancelled {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(call.cancel_flag()))
    }
}
