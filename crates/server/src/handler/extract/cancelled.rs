//! `Cancelled`: whether the call was cancelled, and why.

use super::Extract;
use crate::{Call, Failure, client::CancelFlag};

/// Tells detached work whether the call was cancelled.
///
/// A cancelled handler is dropped at its next `.await`, so most handlers do not need this. Move it
/// into a blocking thread, or into a task that outlives the handler.
///
/// ```
/// use turnbuckle_server::{Cancelled, ToolError};
///
/// async fn count(cancelled: Cancelled) -> Result<String, ToolError> {
///     let counted = tokio::task::spawn_blocking(move || {
///         // Look at the flag now and then: a thread cannot be dropped.
///         (0..1_000_000_u64).take_while(|_| !cancelled.is_cancelled()).count()
///     });
///     Ok(counted.await?.to_string())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Cancelled(CancelFlag);

impl Cancelled {
    /// Creates a value that is cancelled by hand, without a connection: for tests that call a
    /// handler as a function.
    ///
    /// ```
    /// use turnbuckle_server::Cancelled;
    ///
    /// let (cancelled, cancel) = Cancelled::by_hand();
    /// assert!(!cancelled.is_cancelled());
    /// cancel.cancel();
    /// assert!(cancelled.is_cancelled());
    /// ```
    pub fn by_hand() -> (Self, CancelHandle) {
        let flag = CancelFlag::default();
        (Self(flag.clone()), CancelHandle(flag))
    }

    /// Whether the call was cancelled or its connection ended. To wait for that, use
    /// [`wait`](Self::wait).
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set()
    }

    /// Returns the client's reason for the cancellation, for logs. `None` if the connection ended,
    /// and for a client of 2026-07-28 over HTTP, which only closes its stream.
    pub fn reason(&self) -> Option<&str> {
        self.0.reason()
    }

    /// Waits until the call is cancelled. It stays pending for as long as the call is not
    /// cancelled.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn wait(&self) {
        self.0.wait().await;
    }
}

/// Cancels the [`Cancelled`] that [`Cancelled::by_hand`] returned. Dropping the handle does not
/// cancel it.
#[derive(Clone, Debug)]
pub struct CancelHandle(CancelFlag);

impl CancelHandle {
    /// Sets the flag, as if the call had been cancelled.
    pub fn cancel(&self) {
        self.0.set();
    }
}

impl Extract for Cancelled {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        Ok(Self(call.cancel_flag()))
    }
}
