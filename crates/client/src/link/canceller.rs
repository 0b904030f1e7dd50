//! `Canceller`: cancels a call with a reason.

use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

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
pub struct Canceller(Arc<Cancelling>);

/// Smaller than a watch channel: each relayed call has one, and calls may wait for hours.
#[derive(Debug, Default)]
struct Cancelling {
    reason: OnceLock<Arc<str>>,
    used: Notify,
}

impl Canceller {
    /// A new canceller, which has cancelled nothing yet. Give it to calls with
    /// [`ClientCall::cancel_with`](crate::ClientCall::cancel_with).
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels all calls that were made with it, and all later ones: a canceller is used once. The
    /// first reason counts. It does not wait for the server.
    pub fn cancel(&self, reason: impl Into<Arc<str>>) {
        if self.0.reason.set(reason.into()).is_ok() {
            self.0.used.notify_waiters();
        }
    }

    /// The reason, if it was cancelled; `None` before.
    pub fn reason(&self) -> Option<Arc<str>> {
        self.0.reason.get().cloned()
    }

    /// Waits until it is used.
    pub(crate) async fn cancelled(&self) -> Arc<str> {
        // Waits from here on, although it is not polled yet.
        let used = self.0.used.notified();
        if let Some(reason) = self.reason() {
            return reason;
        }
        used.await;
        self.reason().unwrap_or_default()
    }
}
