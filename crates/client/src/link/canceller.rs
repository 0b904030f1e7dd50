//! `Canceller`: cancels a call with a reason.

use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

/// Cancels calls from another task, with a reason for the server. Clones cancel the same calls.
///
/// Dropping the future of a call also cancels it. Use a `Canceller` to give a reason, or if another
/// task owns the future. A modern server at a URL does not get the reason, because such a call is
/// cancelled by closing its stream.
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

/// Smaller than a watch channel: each relayed call has one, and calls may take hours.
#[derive(Debug, Default)]
struct Cancelling {
    reason: OnceLock<Arc<str>>,
    used: Notify,
}

impl Canceller {
    /// Creates a canceller. Pass it to calls with
    /// [`ClientCall::cancel_with`](crate::ClientCall::cancel_with).
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels all calls that were made with this canceller, and all later ones: a canceller can be
    /// used only once. Only the first reason counts. It does not wait for the server.
    pub fn cancel(&self, reason: impl Into<Arc<str>>) {
        if self.0.reason.set(reason.into()).is_ok() {
            self.0.used.notify_waiters();
        }
    }

    /// Returns the reason, once calls were cancelled; `None` before.
    pub fn reason(&self) -> Option<Arc<str>> {
        self.0.reason.get().cloned()
    }

    /// Waits until calls are cancelled, and returns the reason.
    pub(crate) async fn cancelled(&self) -> Arc<str> {
        // Created before the check, because it notices a cancellation from now on, even if it was not
        // polled yet.
        let used = self.0.used.notified();
        if let Some(reason) = self.reason() {
            return reason;
        }
        used.await;
        self.reason().unwrap_or_default()
    }
}
