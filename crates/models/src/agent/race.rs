//! Waits for work, or for a stop.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Returns the output of the work, or `None` if `stopped` is ready first.
pub(super) async fn unless<T>(
    stopped: impl Future<Output = ()>,
    work: impl Future<Output = T>,
) -> Option<T> {
    let (mut stopped, mut work) = (pin!(stopped), pin!(work));
    poll_fn(|context| {
        if stopped.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        work.as_mut().poll(context).map(Some)
    })
    .await
}
