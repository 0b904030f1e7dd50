//! Requests that a relay answers.

use std::{
    future::{Future, poll_fn},
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use tracing::{Instrument as _, Span};
use turnbuckle_protocol::{IdRef, Revision, TraceContext, envelope};
use turnbuckle_telemetry::{
    Operation, Side, Target, are_spans_wanted, record_error, record_tool_error,
};

use super::{
    Incoming, Served, Shared,
    answer::write_reject,
    rates::RatedMethod,
    sink::{Response, Sink, Wrote},
};
use crate::{
    Fault,
    relay::{ClientChannel, Relay, RelayReply, RelayedRequest},
};

/// Methods that the server serves itself, with the relay's offer.
const OWN_METHODS: [&str; 5] = [
    "ping",
    "initialize",
    "server/discover",
    "logging/setLevel",
    "subscriptions/listen",
];

/// Lets the relay serve a request. Returns `None` if the relay leaves it to the server.
pub(crate) fn serve(
    shared: &Shared,
    relay: &Arc<dyn Relay>,
    incoming: &Incoming<'_>,
    out: &mut impl Sink,
) -> Option<Served> {
    if OWN_METHODS.contains(&incoming.method) {
        return None;
    }
    // tools: servers MUST rate limit tool invocations.
    let counted = match incoming.method {
        "tools/call" => Some(RatedMethod::ToolCalls),
        "completion/complete" => Some(RatedMethod::Completions),
        _ => None,
    };
    if let Some(counted) = counted
        && let Err(reject) = shared.allowances.rates.check(counted, incoming.peer)
    {
        incoming.refuse(reject, out);
        return Some(Served::Done);
    }
    let request = RelayedRequest {
        method: incoming.method,
        params: incoming.params,
        revision: incoming.revision,
        peer: incoming.peer,
        channel: ClientChannel::new(incoming.peer, incoming.revision),
        note: None,
    };
    let future = relay.serve(request)?;
    let mut future = match relay_span(incoming) {
        None => future,
        Some(span) => observed(span, future),
    };
    let mut context = Context::from_waker(Waker::noop());
    if let Poll::Ready(reply) = poll(&mut future, &mut context) {
        out.put(|out| write(incoming.revision, incoming.id, reply, out));
        return Some(Served::Done);
    }
    let (revision, id) = (incoming.revision, incoming.id.clone().into_static());
    Some(Served::Later(Box::pin(async move {
        let reply = poll_fn(|context| poll(&mut future, context)).await;
        let mut response = Response::default();
        response.put(|out| write(revision, &id, reply, out));
        response
    })))
}

/// A span for the request, if a subscriber wants spans.
fn relay_span(incoming: &Incoming<'_>) -> Option<Span> {
    if !are_spans_wanted() {
        return None;
    }
    let params = incoming.params;
    let name = params.text("name").or_else(|| params.text("uri"));
    let name = name.unwrap_or_default();
    let id = incoming.id.clone().into_owned().to_string();
    let operation = Operation {
        side: Side::Server,
        method: incoming.method,
        target: Target::of(incoming.method, &name),
        revision: incoming.revision,
        session: incoming.peer.session_id(),
        request: Some(&id),
    };
    let remote = params.meta().and_then(TraceContext::of_request);
    Some(operation.span(remote.as_ref()))
}

/// Serves a request inside its span.
fn observed(span: Span, future: BoxFuture<'static, RelayReply>) -> BoxFuture<'static, RelayReply> {
    Box::pin(async move {
        let reply = future.instrument(span.clone()).await;
        match &reply {
            RelayReply::Result(result) if is_tool_error(result) => record_tool_error(&span),
            RelayReply::Result(_) => {}
            RelayReply::Error(code, error) => {
                let message = error.raw().member("message").and_then(envelope::text_of);
                record_error(&span, *code, message.as_deref().unwrap_or_default());
            }
            RelayReply::Reject(reject) => {
                record_error(&span, reject.code(), &reject.as_error().message);
            }
        }
        reply
    })
}

/// Whether a result reports that the tool failed (`isError`).
fn is_tool_error(result: &[u8]) -> bool {
    let value: Result<&serde_json::value::RawValue, _> = serde_json::from_slice(result);
    value.is_ok_and(|value| {
        let said = envelope::Raw::from(value).member("isError");
        said.is_some_and(|said| said.get() == "true")
    })
}

/// Polls the relay. If it panics, the request fails.
fn poll(
    future: &mut BoxFuture<'static, RelayReply>,
    context: &mut Context<'_>,
) -> Poll<RelayReply> {
    let poll = AssertUnwindSafe(|| Pin::new(&mut *future).poll(context));
    std::panic::catch_unwind(poll).unwrap_or_else(|payload| {
        Poll::Ready(RelayReply::Reject(
            Fault::from_panic(&*payload).into_reject(),
        ))
    })
}

fn write(revision: Revision, id: &IdRef<'_>, reply: RelayReply, out: &mut Vec<u8>) -> Wrote {
    match reply {
        RelayReply::Result(result) => {
            envelope::write_raw_result(out, id, &result);
            Wrote::Result
        }
        RelayReply::Error(code, error) => {
            envelope::write_raw_response(out, id, Err(error.raw()));
            Wrote::Error(code)
        }
        RelayReply::Reject(reject) => write_reject(revision, id, reject, out),
    }
}
