//! `Canceller`: cancels a call with a reason.

use std::sync::Arc;

use tokio::sync::watch;

/// Cancels calls from another task, with a reason for the server. Clones cancel the same calls.
///
/// Dropping the future of a call cancels it, too; use this to give a reason, or if the future is
/// elsewhere. A modern server at a URL is not told the reason: there the stream of the call is
/// closed.
///
/// ```no_run
/// use turnbuckle_client::{CallError, Canceller};
/// # async fn run(server: turnbuckle_client::Connection) {
/// let stop = Canceller::new();
/// let button = stop.clone();
/// tokio::spawn(async move { button.cancel("the user pressed stop") });
/// let called = server.call("build", ()).cancel_with(&stop).await;
/// assert!(matches!(called, Err(CallError::Cancelled { .. })));
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Canceller(Arc<watch::Sender<Option<Arc<str>>>>);

impl Canceller {
    /// A new canceller, which has cancelled nothing yet. Give it to calls with
    /// [`ClientCall::cancel_with`](crate::ClientCall::cancel_with).
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels all calls that were made with it, and all later ones: a canceller is used once. The
    /// first reason counts. It does not wait for the server.
    pub fn cancel(&self, reason: impl Into<Arc<str>>) {
        self.0.send_if_modified(|said| {
            let is_first = said.is_none();
            if is_first {
                *said = Some(reason.into());
            }
            is_first
        });
    }

    /// The reason, if it was cancelled; `None` before.
    pub fn reason(&self) -> Option<Arc<str>> {
        self.0.borrow().clone()
    }

    /// Waits until it is used.
    pub(crate) async fn cancelled(&self) -> Arc<str> {
        let mut said = self.0.subscribe();
        let reason = said.wait_for(Option::is_some).await;
        // The sender is ours, so that it cannot be gone.
        reason
            .ok()
            .and_then(|said| said.clone())
            .unwrap_or_default()
    }
}
