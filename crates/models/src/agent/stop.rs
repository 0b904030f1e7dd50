//! Stopping a run from outside.

use tokio::sync::watch;

/// Stops a run. Clones stop the same run.
#[derive(Clone, Debug)]
pub struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// For one run, which goes on until it is stopped.
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Stops the run: the model is silenced and open calls are cancelled.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is stopped.
    pub async fn stopped(&self) {
        let mut receiver = self.0.subscribe();
        // The sender is here, so it cannot be gone.
        let _ = receiver.wait_for(|is_stopped| *is_stopped).await;
    }
}
