//! The log of the call that runs on the current thread, for `tracing` events.

use std::{
    cell::RefCell,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::future::BoxFuture;

use super::Log;

thread_local! {
    static CURRENT: RefCell<Option<Log>> = const { RefCell::new(None) };
}

/// The log of the call that runs on this thread, if there is one.
#[cfg(feature = "tracing-layer")]
pub(super) fn current() -> Option<Log> {
    CURRENT.with(|current| current.try_borrow().ok()?.clone())
}

/// Wraps a future so that its `tracing` events go to this log.
pub(crate) fn scoped<T: 'static>(log: Log, future: BoxFuture<'static, T>) -> BoxFuture<'static, T> {
    if log.is_open() {
        Box::pin(Scoped { log, future })
    } else {
        future
    }
}

struct Scoped<T> {
    log: Log,
    future: BoxFuture<'static, T>,
}

impl<T> Future for Scoped<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let _entered = Entered::new(self.log.clone());
        self.future.as_mut().poll(context)
    }
}

impl Log {
    /// Wraps a future so that its `tracing` events go to this log. Use it for work that a handler
    /// moves to another task; the handler's own future does not need it.
    pub fn scope<T>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'static, T>
    where
        T: 'static,
    {
        scoped(self.clone(), Box::pin(future))
    }
}

/// Restores the previous log when it is dropped, also if a poll panics.
struct Entered(Option<Log>);

impl Entered {
    fn new(log: Log) -> Self {
        Self(CURRENT.with(|current| current.replace(Some(log))))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.0.take();
        CURRENT.with(|current| *current.borrow_mut() = before);
    }
}
