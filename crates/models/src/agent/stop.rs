//! Stops a run from outside.

use tokio::sync::watch;

/// Stops a run of an [`Agent`](super::Agent) from outside, for example with a button. Clones stop
/// the same run. Unlike dropping the run, this keeps the text so far in the conversation.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Creates a handle for one run. Create a new one for the next run.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Stops the run: the request to the model is cancelled, and so are running calls. This does
    /// not wait for the run to end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether the run was stopped.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the run is stopped.
    pub async fn stopped(&self) {
        let mut receiver = self.0.subscribe();
        // `self` has the sender, so the channel cannot be closed.
        let _ = receiver.wait_for(|is_stopped| *is_stopped).await;
    }
}
