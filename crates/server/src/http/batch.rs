//! Batches, which only sessions of 2025-03-26 know.

use std::sync::Arc;

use http::{Response, StatusCode};
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{Malformed, Message},
};
use turnbuckle_transport::Outbox;

use super::{
    body::HttpBody,
    reply,
    service::Site,
    session::HttpSession,
    session_post::{self, error_message},
};
use crate::{exchange::Step, method, running::unless, sink};

/// Serves all members. Answers that are ready at once come as one array; otherwise all of them
/// come as a stream, one by one.
pub(super) async fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    members: Vec<Result<Message<'_>, Malformed<'_>>>,
) -> Response<HttpBody> {
    if session.revision() != Revision::V2025_03_26 {
        return reply::refuse(
            StatusCode::BAD_REQUEST,
            reply::NOT_HERE,
            "batches exist only in sessions of 2025-03-26: send the messages one by one",
        );
    }
    let outbox = Outbox::new(site.shared.settings.limits);
    let peer = session.peer(outbox.clone());
    let mut ready: Vec<Vec<u8>> = Vec::new();
    let mut later = Vec::new();
    for member in members {
        match member {
            Ok(Message::Request(request)) if request.method == "initialize" => {
                let error = ErrorObject::invalid_request("`initialize` stands alone");
                ready.push(error_message(&request.id, &error));
            }
            Ok(Message::Request(request)) => {
                let id = request.id.clone().into_owned();
                if let Err(error) = session.running.check(&request) {
                    ready.push(error_message(&request.id, &error));
                    continue;
                }
                let mut response = sink::Response::default();
                match method::serve(&site.shared, &peer, request, &mut response) {
                    Step::Done => ready.push(response.message),
                    Step::Later(running) => later.push((id, running)),
                }
            }
            Ok(Message::Notification(note)) => session_post::notice(site, session, &note),
            Ok(Message::Response(_)) => {}
            Err(malformed) => ready.extend(malformed.kind.code().map(|code| {
                let mut message = Vec::new();
                let id = malformed
                    .id
                    .as_ref()
                    .ok_or(turnbuckle_protocol::envelope::UnreadableId::Null);
                crate::answer::write_error(
                    id,
                    &ErrorObject::new(code, malformed.message.as_str()),
                    &mut message,
                );
                message
            })),
        }
    }
    if later.is_empty() && outbox.pending_bytes() == 0 {
        if ready.is_empty() {
            return reply::empty(StatusCode::ACCEPTED);
        }
        let mut array = vec![b'['];
        array.extend_from_slice(&ready.join(&b','));
        array.push(b']');
        return reply::json(StatusCode::OK, array);
    }
    for message in &ready {
        let _ = outbox.send(message).await;
    }
    spawn(session, &outbox, later);
    session_post::stream(site, session, outbox, &[])
}

/// Lets the members go on side by side; the stream ends with the last of them.
fn spawn(
    session: &HttpSession,
    outbox: &Outbox,
    later: Vec<(
        turnbuckle_protocol::Id,
        crate::handler::BoxFuture<sink::Response>,
    )>,
) {
    let mut tasks = Vec::new();
    for (id, running) in later {
        let outbox = outbox.clone();
        match session.running.begin(id.clone()) {
            Ok((ticket, cancel)) => {
                let table = session.running.clone();
                tasks.push(tokio::spawn(async move {
                    if let Some(response) = unless(&cancel, running).await {
                        let _ = outbox.send(&response.message).await;
                    }
                    table.finish(&ticket);
                }));
            }
            Err(error) => {
                let message = error_message(&id.as_ref(), &error);
                tasks.push(tokio::spawn(async move {
                    let _ = outbox.send(&message).await;
                }));
            }
        }
    }
    let outbox = outbox.clone();
    tokio::spawn(async move {
        for task in tasks {
            let _ = task.await;
        }
        outbox.close();
    });
}
