//! One exchange: serving a request, from its first poll to its one response.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{IdRef, Revision};
use turnbuckle_session::round::Paused;

use super::{
    answer::{Responder, ResultOf, WireResult},
    sink::{Response, Sink, Wrote},
    trace::Trace,
};
use crate::{
    Call, Failure, Fault, Layer, Log, Next,
    catalog::Callable,
    client::{CancelFlag, CancelOnDrop},
    handler::{
        ask::{AskSlot, Asking},
        is_forwarding, log,
    },
};

/// The future of a call, with its result.
pub(crate) type CallFuture<T> = BoxFuture<'static, Result<T, Failure>>;

/// A running call, and the flag that tells it that it was cancelled.
pub(crate) struct StartedCall<T> {
    pub(crate) future: CallFuture<T>,
    pub(crate) cancel: Option<CancelFlag>,
    pub(crate) asking: AskSlot,
}

/// Starts a call: runs the extractors at once, and returns the layers and the handler as one
/// future. `layers` are the layers of the server.
pub(crate) fn start<C: Callable>(
    layers: &[Arc<dyn Layer>],
    entry: &Arc<C>,
    call: Call<'_>,
) -> Result<StartedCall<C::Output>, Failure> {
    let trace = Trace::of(&call);
    let started = prepare(layers, entry, call)?;
    Ok(match trace {
        Some(trace) => started.map(|future| trace.wrap::<C>(future)),
        None => started,
    })
}

fn prepare<C: Callable>(
    layers: &[Arc<dyn Layer>],
    entry: &Arc<C>,
    call: Call<'_>,
) -> Result<StartedCall<C::Output>, Failure> {
    if layers.is_empty() && entry.layers().is_empty() {
        let mut future = guarded(|| (entry.handler())(&call))?;
        if is_forwarding() {
            future = log::scoped(Log::of(&call), future);
        }
        let asking = call.asks.begun.into_inner();
        return Ok(StartedCall {
            future: admitted(asking.as_ref(), future),
            cancel: call.cancel.into_inner(),
            asking: AskSlot::Now(asking),
        });
    }
    let cancel = CancelFlag::default();
    let slot = Arc::default();
    let mut call = call.into_owned();
    call.asks.slot = Some(Arc::clone(&slot));
    let _ = call.cancel.set(cancel.clone());
    let layers: Vec<Arc<dyn Layer>> = layers.iter().chain(entry.layers()).cloned().collect();
    let log = is_forwarding().then(|| Log::of(&call));
    let entry = Arc::clone(entry);
    let endpoint = Box::new(move |call: Call<'static>| -> BoxFuture<'static, _> {
        Box::pin(async move {
            let future = (entry.handler())(&call)?;
            Ok(C::wrap(admitted(call.asks.begun.get(), future).await?))
        })
    });
    let mut future: BoxFuture<'static, _> = Box::pin(async move {
        let reply = Next::new(layers, endpoint).run(call).await?;
        C::unwrap(reply)
            .ok_or_else(|| Failure::Fault(Fault::new("a layer returned a reply of the wrong kind")))
    });
    if let Some(log) = log {
        future = log::scoped(log, future);
    }
    Ok(StartedCall {
        future,
        cancel: Some(cancel),
        asking: AskSlot::Later(slot),
    })
}

/// Wraps the call so that the check of its `requestState` comes first.
fn admitted<T: 'static>(asking: Option<&Arc<Asking>>, future: CallFuture<T>) -> CallFuture<T> {
    match asking.and_then(|asking| asking.admission()) {
        None => future,
        Some(admission) => Box::pin(async move {
            admission.await?;
            future.await
        }),
    }
}

/// Polls the call once, immediately. Most handlers are ready then: their response is written
/// without a task, a wake-up or a copy. Otherwise returns a future of the response.
pub(crate) fn run<T: WireResult + Send + 'static>(
    responder: &Arc<Responder>,
    revision: Revision,
    id: &IdRef<'_>,
    of: ResultOf<'_>,
    started: Result<StartedCall<T>, Failure>,
    out: &mut impl Sink,
) -> Option<BoxFuture<'static, Response>> {
    let (mut run, guard) = match started {
        Ok(started) => started.into_run(),
        Err(failure) => {
            out.put(|out| responder.write::<T>(revision, id, Err(failure), &of, out));
            return None;
        }
    };
    let mut context = Context::from_waker(Waker::noop());
    if let Poll::Ready(ending) = Pin::new(&mut run).poll(&mut context) {
        guard.disarm();
        out.put(|out| ending.write(responder, revision, id, &of, out));
        return None;
    }
    let responder = Arc::clone(responder);
    let (id, of) = (id.clone().into_static(), of.into_static());
    Some(Box::pin(async move {
        let ending = run.await;
        guard.disarm();
        let mut response = Response::default();
        response.put(|out| ending.write(&responder, revision, &id, &of, out));
        response
    }))
}

/// One run of a handler, from its start to its end or until it waits for answers.
pub(crate) struct CallRun<T> {
    future: Unwinding<T>,
    asking: AskSlot,
}

impl<T> CallRun<T> {
    /// The questions of the handler, if it can ask any.
    pub(crate) fn asking(&self) -> Option<&Arc<Asking>> {
        self.asking.get()
    }
}

impl<T: Send + 'static> StartedCall<T> {
    /// Wraps the future of the call into another.
    pub(crate) fn map(self, wrap: impl FnOnce(CallFuture<T>) -> CallFuture<T>) -> Self {
        Self {
            future: wrap(self.future),
            ..self
        }
    }

    /// Creates a call that failed before it began.
    pub(crate) fn failed(failure: Failure) -> Self {
        Self {
            future: Box::pin(std::future::ready(Err(failure))),
            cancel: None,
            asking: AskSlot::Now(None),
        }
    }

    /// Returns the run of the call, and a guard that cancels the call if the run is dropped before
    /// its end.
    pub(crate) fn into_run(self) -> (CallRun<T>, CancelOnDrop) {
        let run = CallRun {
            future: Unwinding(self.future),
            asking: self.asking,
        };
        (run, CancelOnDrop::new(self.cancel))
    }
}

/// How a run ended.
pub(crate) enum Ending<T> {
    /// The handler has ended.
    Done(Result<T, Failure>),
    /// The client has to answer questions first. The handler is dropped with the run.
    Paused(Paused),
}

impl<T> Future for CallRun<T> {
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

impl<T: WireResult> Ending<T> {
    pub(crate) fn write(
        self,
        responder: &Responder,
        revision: Revision,
        id: &IdRef<'_>,
        of: &ResultOf<'_>,
        out: &mut Vec<u8>,
    ) -> Wrote {
        match self {
            Self::Done(outcome) => responder.write(revision, id, outcome, of, out),
            Self::Paused(result) => responder.write_paused(revision, id, &result, out),
        }
    }
}

/// The future of a handler. A panic in it becomes a fault of the call, and does not end the
/// connection.
struct Unwinding<T>(CallFuture<T>);

impl<T> Future for Unwinding<T> {
    type Output = Result<T, Failure>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = AssertUnwindSafe(|| self.0.as_mut().poll(context));
        std::panic::catch_unwind(poll).unwrap_or_else(|payload| {
            Poll::Ready(Err(Failure::Fault(Fault::from_panic(&*payload))))
        })
    }
}

/// Runs the extractors and the synchronous part of a handler. A panic becomes a fault.
fn guarded<T>(start: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    Fault::caught(start).unwrap_or_else(|fault| Err(Failure::Fault(fault)))
}
