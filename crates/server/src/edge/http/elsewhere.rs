//! Parses large messages on threads for blocking work, so that other requests do not wait.

use std::{
    panic::resume_unwind,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;

use crate::engine::budget::Budget;

/// Polls a future once on a thread for blocking work, where its message is parsed, and then
/// continues here. Only a few of these run at a time, so that other requests get processor time.
pub(super) async fn begin<T: Send + 'static>(
    budget: &Arc<Budget>,
    mut future: BoxFuture<'static, T>,
) -> T {
    let turn = Arc::clone(&budget.parsers).acquire_owned().await;
    let begun = tokio::task::spawn_blocking(move || {
        let _turn = turn.expect("the semaphore is never closed");
        // It is polled again below, so this poll needs no waker.
        let polled = future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        (future, polled)
    });
    match begun.await {
        Ok((_, Poll::Ready(output))) => output,
        Ok((future, Poll::Pending)) => future.await,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down: this task will not be polled again.
            Err(_) => std::future::pending().await,
        },
    }
}
