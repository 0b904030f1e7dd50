//! Batches of a session: answered with JSON or a stream.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use tokio::runtime::Handle;
use turnbuckle_protocol::envelope::{self, Frame};
use turnbuckle_transport::Outbox;

use super::{
    body::{HttpBody, holding},
    event_id::Carries,
    reply, routed,
    session::HttpSession,
    session_post, session_stream,
    site::Site,
};
use crate::{
    edge::{
        batch::{self, BatchContext},
        running::Begun,
    },
    engine::{
        budget::Charge,
        unsent::{self, Unsent},
    },
};

/// The error for clients whose revision has no batches.
pub(super) fn unknown() -> Response<HttpBody> {
    reply::refuse(StatusCode::BAD_REQUEST, batch::UNKNOWN)
}

/// Serves all messages of a batch. If all answers are ready at once they are sent as one array;
/// otherwise they are sent one by one in a stream.
pub(super) async fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    parts: &Parts,
    body: &[u8],
    paid: Option<Charge>,
) -> Response<HttpBody> {
    if !batch::is_known(&session.peer) {
        return unknown();
    }
    let max_nodes = site.shared.settings.limits.nodes_of(body.len());
    let (members, nodes) = match envelope::parse_within(body, max_nodes) {
        Ok((Frame::Batch(members), nodes)) => (members, nodes),
        Ok((Frame::One(_), _)) => return unknown(),
        Err(malformed) => return reply::malformed(&malformed, batch::unreadable(&session.peer)),
    };
    let budget = &site.shared.allowances.budget;
    let charge = match budget.message(paid, body.len(), nodes, || site.key(parts)) {
        Ok(charge) => charge,
        Err(over) => return reply::over_budget(over, None),
    };
    if let Some(refused) = session_stream::check_count(site, session) {
        return refused;
    }
    if let Some(replicas) = &site.shared.replicas {
        for message in members.iter().flatten() {
            // Another replica waits for this message. If that replica cannot be reached, the client
            // is not told, because the rest of the batch has been handled.
            let _ = Box::pin(routed::accept(replicas, session, message)).await;
        }
    }
    let outbox = unsent::outbox(&site.shared, session.payer_key());
    let unsent = Unsent::of(&site.shared, session.payer_key());
    let here = BatchContext {
        shared: &site.shared,
        session: &session.peer,
        peer: &session.peer_of(site.caller(parts), outbox.clone()),
        running: &session.running,
        unsent: Some(&unsent),
    };
    let batch = here.serve(members);
    if batch.is_initialized {
        session_post::keep_alive(site, session);
    }
    if batch.begun.is_empty() && outbox.pending_bytes() == 0 {
        // transports: a batch without requests is answered with 202 and no body.
        let (array, paid) = batch::array(batch.ready);
        return match (array.is_empty(), paid.is_empty()) {
            (true, _) => reply::empty(StatusCode::ACCEPTED),
            (false, true) => reply::json(StatusCode::OK, array),
            (false, false) => reply::json(StatusCode::OK, holding(array, paid)),
        };
    }
    for response in batch.ready {
        response.push_to(&outbox);
    }
    spawn(session, &outbox, batch.begun, charge, &unsent);
    session_stream::open(site, session, outbox, &Carries::Call(None))
}

/// Runs the requests concurrently; the stream ends with the last of them.
fn spawn(
    session: &HttpSession,
    outbox: &Outbox,
    begun: Vec<Begun>,
    charge: Charge,
    unsent: &Unsent,
) {
    let runtime = Handle::current();
    let run = |begun| {
        let unsent = Some(unsent.clone());
        session.running.run(&runtime, begun, outbox.clone(), unsent)
    };
    let tasks: Vec<_> = begun.into_iter().map(run).collect();
    let outbox = outbox.clone();
    tokio::spawn(async move {
        for task in tasks {
            // A request that panicked has no answer; the others have answers.
            let _ = task.await;
        }
        drop(charge);
        outbox.close();
    });
}
