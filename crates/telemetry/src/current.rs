//! The trace that the current work belongs to.

use std::{
    cell::RefCell,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use turnbuckle_protocol::TraceContext;

use crate::otel;

thread_local! {
    /// The trace context of the request that this thread serves now.
    static CARRIED: RefCell<Option<TraceContext>> = const { RefCell::new(None) };
}

/// The trace context that outgoing messages get.
///
/// With feature `opentelemetry` this is the context of the current span, if it has one. Otherwise it is the
/// context that came with the request that is being served, unchanged.
pub fn current() -> Option<TraceContext> {
    let carried = CARRIED.with_borrow(Clone::clone);
    match otel::current() {
        Some(span) => {
            // The span is ours, but the baggage still comes from the remote application.
            let baggage = carried.as_ref().and_then(TraceContext::baggage);
            TraceContext::new(span.parent(), span.state(), span.baggage().or(baggage))
        }
        None => carried,
    }
}

/// The trace context of the current span. `None` without feature `opentelemetry` or without a subscriber that
/// exports spans, even if the request named a trace.
pub fn span_identity() -> Option<TraceContext> {
    otel::current()
}

/// Runs a future with this trace context: messages that it sends while it is polled belong to the trace.
///
/// Tasks that the future spawns do not inherit the context.
pub fn with_trace_context<F: Future>(context: TraceContext, future: F) -> WithTraceContext<F> {
    WithTraceContext {
        context: Some(context),
        future,
    }
}

pin_project_lite::pin_project! {
    /// A future that runs with a trace context; see [`with_trace_context`].
    #[derive(Debug)]
    pub struct WithTraceContext<F> {
        context: Option<TraceContext>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for WithTraceContext<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        // Swapped in and out, so that nothing is cloned however often the future is polled.
        let swap = Swap { slot: this.context };
        CARRIED.with_borrow_mut(|carried| std::mem::swap(carried, swap.slot));
        let poll = this.future.poll(cx);
        drop(swap);
        poll
    }
}

/// Swaps the context back when it is dropped, even if the future panics.
struct Swap<'a> {
    slot: &'a mut Option<TraceContext>,
}

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        CARRIED.with_borrow_mut(|carried| std::mem::swap(carried, self.slot));
    }
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::pin, task::Waker};

    use super::*;

    fn context(span: u8) -> TraceContext {
        let parent = format!("00-0af7651916cd43dd8448eb211c80319c-{span:016x}-01");
        TraceContext::new(parent.parse().ok(), None, None).unwrap()
    }

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn work_is_carried_from_poll_to_poll_and_not_beyond() {
        let mut polls = 0;
        let mut outer = pin!(with_trace_context(
            context(1),
            poll_fn(|cx| {
                polls += 1;
                assert_eq!(current(), Some(context(1)));
                let mut inner = pin!(with_trace_context(context(2), async { current() }));
                assert_eq!(inner.as_mut().poll(cx), Poll::Ready(Some(context(2))));
                assert_eq!(current(), Some(context(1)));
                if polls == 2 {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            })
        ));
        assert_eq!(poll(outer.as_mut()), Poll::Pending);
        assert_eq!(current(), None);
        assert_eq!(poll(outer.as_mut()), Poll::Ready(()));
        assert_eq!(current(), None);
    }

    #[test]
    fn a_panic_leaves_nothing_behind() {
        let panicked = std::panic::catch_unwind(|| {
            let mut future = pin!(with_trace_context(context(1), async {
                panic!("on purpose")
            }));
            let _: Poll<()> = poll(future.as_mut());
        });
        assert!(panicked.is_err());
        assert_eq!(current(), None);
    }
}
