//! One exchange: a request being served, from its first poll to its one response.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use turnbuckle_protocol::{IdRef, Revision};
use turnbuckle_session::round::Paused;

use crate::{
    Call, Failure, Fault, Layer, Log, Next,
    answer::{self, Answer},
    ask::{AskSlot, Asking},
    cancel::{CancelFlag, CancelOnDrop},
    catalog::Callable,
    handler::BoxFuture,
    log,
    peer::Peer,
    shared::Shared,
    sink::{Response, Sink, Wrote},
    subscription::Subscription,
    trace::Trace,
};

/// How far a request has come after it was taken in.
pub(crate) enum Step {
    /// The response has been written.
    Done,
    /// The response comes later, as one whole message.
    Later(BoxFuture<Response>),
    /// A subscription is open, and is told of changes until it ends.
    Listening(Box<Subscription>),
}

impl Step {
    /// The response that comes later, if it does. A subscription is told by lines.
    pub(crate) fn later(self, peer: &Arc<Peer>) -> Option<BoxFuture<Response>> {
        match self {
            Self::Done => None,
            Self::Later(response) => Some(response),
            Self::Listening(subscription) => Some(subscription.on_lines(peer)),
        }
    }
}

/// A call under way, and what tells it that it was cancelled.
pub(crate) struct Running<T> {
    pub(crate) future: BoxFuture<Result<T, Failure>>,
    pub(crate) cancel: Option<CancelFlag>,
    pub(crate) asking: AskSlot,
}

/// Starts a call: extractors at once, then layers and handler as one future.
pub(crate) fn start<C: Callable>(
    entry: &Arc<C>,
    call: Call<'_>,
) -> Result<Running<C::Output>, Failure> {
    let trace = Trace::of(&call);
    let running = prepare(entry, call)?;
    Ok(match trace {
        Some(trace) => trace.wrap::<C>(running),
        None => running,
    })
}

fn prepare<C: Callable>(entry: &Arc<C>, call: Call<'_>) -> Result<Running<C::Output>, Failure> {
    if call.shared.layers.is_empty() && entry.layers().is_empty() {
        let mut future = guarded(|| (entry.handler())(&call))?;
        if log::is_forwarding() {
            future = log::scoped(Log::of(&call), future);
        }
        let asking = call.asking.into_inner();
        return Ok(Running {
            future: admitted(asking.as_ref(), future),
            cancel: call.cancel.into_inner(),
            asking: AskSlot::Now(asking),
        });
    }
    let cancel = CancelFlag::default();
    let slot = Arc::default();
    let mut call = call.into_owned();
    call.asking_slot = Some(Arc::clone(&slot));
    let _ = call.cancel.set(cancel.clone());
    let layers: Vec<Arc<dyn Layer>> = call
        .shared
        .layers
        .iter()
        .chain(entry.layers())
        .cloned()
        .collect();
    let log = log::is_forwarding().then(|| Log::of(&call));
    let entry = Arc::clone(entry);
    let endpoint = Box::new(move |call: Call<'static>| -> BoxFuture<_> {
        Box::pin(async move {
            let future = (entry.handler())(&call)?;
            Ok(C::wrap(admitted(call.asking.get(), future).await?))
        })
    });
    let mut future: BoxFuture<_> = Box::pin(async move {
        let reply = Next::new(layers, endpoint).run(call).await?;
        C::unwrap(reply)
            .ok_or_else(|| Failure::Fault(Fault::new("a layer gave a reply of another kind")))
    });
    if let Some(log) = log {
        future = log::scoped(log, future);
    }
    Ok(Running {
        future,
        cancel: Some(cancel),
        asking: AskSlot::Later(slot),
    })
}

/// The call, behind what has to be found out before it runs.
fn admitted<T: 'static>(
    asking: Option<&Arc<Asking>>,
    future: BoxFuture<Result<T, Failure>>,
) -> BoxFuture<Result<T, Failure>> {
    match asking.and_then(|asking| asking.admission()) {
        None => future,
        Some(admission) => Box::pin(async move {
            admission.await?;
            future.await
        }),
    }
}

/// Polls the call once, here and now. Most handlers are done by then: their response is written
/// without a task, a wake-up or a copy. The others go on as a future of their own.
pub(crate) fn run<T: Answer + Send + 'static>(
    shared: &Arc<Shared>,
    revision: Revision,
    id: IdRef<'_>,
    started: Result<Running<T>, Failure>,
    out: &mut impl Sink,
) -> Step {
    let Running {
        future,
        cancel,
        asking,
    } = match started {
        Ok(running) => running,
        Err(failure) => {
            out.put(|out| answer::write::<T>(shared, revision, &id, Err(failure), out));
            return Step::Done;
        }
    };
    let guard = CancelOnDrop::new(cancel);
    let mut round = Round {
        future: Unwinding(future),
        asking,
    };
    let mut context = Context::from_waker(Waker::noop());
    if let Poll::Ready(ending) = Pin::new(&mut round).poll(&mut context) {
        guard.disarm();
        out.put(|out| ending.write(shared, revision, &id, out));
        return Step::Done;
    }
    let shared = Arc::clone(shared);
    let id = id.into_static();
    Step::Later(Box::pin(async move {
        let ending = round.await;
        guard.disarm();
        let mut response = Response::default();
        response.put(|out| ending.write(&shared, revision, &id, out));
        response
    }))
}

/// One run of a handler, from its start to its end or to the asks that have no answer yet.
pub(crate) struct Round<T> {
    future: Unwinding<T>,
    asking: AskSlot,
}

impl<T> Round<T> {
    /// What the handler asks, if it can.
    pub(crate) fn asking(&self) -> Option<&Arc<Asking>> {
        self.asking.get()
    }
}

impl<T: Send + 'static> Running<T> {
    /// A call that failed before it began.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self {
            future: Box::pin(std::future::ready(Err(failure))),
            cancel: None,
            asking: AskSlot::Now(None),
        }
    }

    /// The first round, and what tells the call that it was cancelled.
    pub(crate) fn into_round(self) -> (Round<T>, Option<CancelFlag>) {
        let round = Round {
            future: Unwinding(self.future),
            asking: self.asking,
        };
        (round, self.cancel)
    }
}

/// How a round ended.
pub(crate) enum Ending<T> {
    /// The handler is done.
    Done(Result<T, Failure>),
    /// The client has to be asked first. What was left of the handler goes with the round.
    Paused(Paused),
}

impl<T> Future for Round<T> {
    type Output = Ending<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Ending<T>> {
        if let Poll::Ready(outcome) = Pin::new(&mut self.future).poll(context) {
            let failure = self.asking.get().and_then(|asking| asking.failure());
            return Poll::Ready(Ending::Done(failure.map_or(outcome, Err)));
        }
        let ending = self.asking.get().and_then(|asking| asking.ending(context));
        match ending {
            None => Poll::Pending,
            Some(Ok(result)) => Poll::Ready(Ending::Paused(result)),
            Some(Err(failure)) => Poll::Ready(Ending::Done(Err(failure))),
        }
    }
}

impl<T: Answer> Ending<T> {
    pub(crate) fn write(
        self,
        shared: &Shared,
        revision: Revision,
        id: &IdRef<'_>,
        out: &mut Vec<u8>,
    ) -> Wrote {
        match self {
            Self::Done(outcome) => answer::write(shared, revision, id, outcome, out),
            Self::Paused(result) => answer::write_paused(shared, id, &result, out),
        }
    }
}

/// A handler's future whose panics are faults of the call, not the end of the connection.
struct Unwinding<T>(BoxFuture<Result<T, Failure>>);

impl<T> Future for Unwinding<T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = AssertUnwindSafe(|| self.0.as_mut().poll(context));
        std::panic::catch_unwind(poll).unwrap_or_else(|payload| {
            Poll::Ready(Err(Failure::Fault(Fault::from_panic(&*payload))))
        })
    }
}

/// Runs extractors and the synchronous head of a handler, panics included.
fn guarded<T>(start: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    caught(start).unwrap_or_else(|fault| Err(Failure::Fault(fault)))
}

/// What a function gives, or the fault that its panic is.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, Fault> {
    std::panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Fault::from_panic(&*payload))
}
