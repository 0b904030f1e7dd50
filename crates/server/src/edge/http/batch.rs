//! Batches of a session: answered with JSON or a stream.

use std::sync::Arc;

use http::{Response, StatusCode};
use tokio::runtime::Handle;
use turnbuckle_protocol::envelope::{self, Frame};
use turnbuckle_transport::Outbox;

use super::{body::HttpBody, reply, session::HttpSession, session_stream, site::Site};
use crate::{
    Caller,
    edge::{
        batch::{self, BatchContext},
        running::Begun,
    },
};

/// A refusal for those who cannot send batches.
pub(super) fn unknown() -> Response<HttpBody> {
    reply::refuse(StatusCode::BAD_REQUEST, batch::UNKNOWN)
}

/// Serves all members. Answers that are ready at once come as one array; otherwise all of them
/// come as a stream, one by one.
pub(super) fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    caller: Caller,
    body: &[u8],
) -> Response<HttpBody> {
    if !batch::is_known(&session.peer) {
        return unknown();
    }
    let members = match envelope::parse(body) {
        Ok(Frame::Batch(members)) => members,
        Ok(Frame::One(_)) => return unknown(),
        Err(malformed) => return reply::malformed(&malformed, batch::unreadable(&session.peer)),
    };
    if let Some(refused) = session_stream::check_count(site, session) {
        return refused;
    }
    let outbox = Outbox::new(site.shared.settings.limits);
    let here = BatchContext {
        shared: &site.shared,
        session: &session.peer,
        peer: &session.peer_of(caller, outbox.clone()),
        running: &session.running,
    };
    let batch = here.serve(members);
    if batch.begun.is_empty() && outbox.pending_bytes() == 0 {
        // transports: what holds no request is answered with 202 and nothing more.
        return match batch::array(&batch.ready) {
            empty if empty.is_empty() => reply::empty(StatusCode::ACCEPTED),
            array => reply::json(StatusCode::OK, array),
        };
    }
    for message in &batch.ready {
        outbox.push(message);
    }
    spawn(session, &outbox, batch.begun);
    session_stream::open(site, session, outbox, Vec::new())
}

/// Lets the members go on side by side; the stream ends with the last of them.
fn spawn(session: &HttpSession, outbox: &Outbox, begun: Vec<Begun>) {
    let runtime = Handle::current();
    let run = |begun| session.running.run(&runtime, begun, outbox.clone());
    let tasks: Vec<_> = begun.into_iter().map(run).collect();
    let outbox = outbox.clone();
    tokio::spawn(async move {
        for task in tasks {
            // One that panicked has no answer; the others have.
            let _ = task.await;
        }
        outbox.close();
    });
}
