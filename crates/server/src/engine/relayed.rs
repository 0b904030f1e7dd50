//! Requests that a relay answers.

use std::{
    future::{Future, poll_fn},
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{IdRef, Revision, envelope};

use super::{
    Incoming, Served, Shared,
    answer::write_reject,
    rates::Counted,
    sink::{Response, Sink, Wrote},
};
use crate::{
    Fault,
    relay::{Front, Relay, RelayReply, Relayed},
};

/// Methods that the server serves itself, by what the relay offers.
const OWN_METHODS: [&str; 5] = [
    "ping",
    "initialize",
    "server/discover",
    "logging/setLevel",
    "subscriptions/listen",
];

/// Has the relay serve a request. `None` if it leaves the request to the server.
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
        "tools/call" => Some(Counted::ToolCalls),
        "completion/complete" => Some(Counted::Completions),
        _ => None,
    };
    if let (Some(counted), Some(caller)) = (counted, incoming.peer.counted_key())
        && let Err(reject) = shared.rates.check(counted, caller)
    {
        incoming.refuse(reject, out);
        return Some(Served::Done);
    }
    let request = Relayed {
        method: incoming.method,
        params: incoming.params,
        revision: incoming.revision,
        peer: incoming.peer,
        front: Front::new(incoming.peer, incoming.revision),
    };
    let mut future = relay.serve(request)?;
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

/// Polls the relay; a panic is an error of the request.
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
