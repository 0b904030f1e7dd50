//! Batches, which only sessions of 2025-03-26 know.

use std::{fmt, sync::Arc};

use http::{Response, StatusCode};
use serde::{
    Deserializer as _,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    ErrorObject,
    envelope::{Malformed, Message, Request, UnreadableId, parse_member},
    error::code,
};
use turnbuckle_session::in_flight::Ticket;
use turnbuckle_transport::Outbox;

use super::{body::HttpBody, reply, service::Site, session::HttpSession, session_post};
use crate::{
    Caller, answer,
    cancel::CancelFlag,
    handler::BoxFuture,
    method,
    peer::Peer,
    running::unless,
    sink::{self, Sink as _},
};

/// Members of one batch. As many as may be in flight at once: answers are held until the last of
/// those that are ready at once, so their number must be bounded.
const MAX_MEMBERS: usize = turnbuckle_session::in_flight::MAX_IN_FLIGHT;

/// A member that goes on.
type Begun = (Ticket, CancelFlag, BoxFuture<sink::Response>);

/// A refusal for those who cannot send batches.
pub(super) fn unknown() -> Response<HttpBody> {
    reply::refuse(
        StatusCode::BAD_REQUEST,
        code::INVALID_REQUEST,
        "batches exist only in sessions of 2025-03-26: send the messages one by one",
    )
}

/// Serves all members. Answers that are ready at once come as one array; otherwise all of them
/// come as a stream, one by one.
pub(super) fn serve(
    site: &Arc<Site>,
    session: &Arc<HttpSession>,
    caller: Caller,
    body: &[u8],
) -> Response<HttpBody> {
    if !session.revision().rules().batches {
        return unknown();
    }
    let members = match members(body) {
        Ok(members) => members,
        Err(error) => {
            return reply::refuse(StatusCode::BAD_REQUEST, code(&error), &error.to_string());
        }
    };
    if session.open_streams() >= site.settings.max_streams {
        return session_post::too_many_streams(site);
    }
    let outbox = Outbox::new(site.shared.settings.limits);
    let peer = session.peer(caller, outbox.clone());
    let mut ready = Vec::new();
    let mut begun = Vec::new();
    for member in members {
        let mut answer = sink::Response::default();
        match parse_member(member) {
            Ok(Message::Request(request)) => {
                begun.extend(serve_member(site, session, &peer, request, &mut answer));
            }
            Ok(Message::Notification(note)) => session_post::notice(site, session, &note),
            Ok(Message::Response(response)) => session.lifecycle.requests.answer(&response),
            Err(malformed) => refuse_malformed(&malformed, &mut answer),
        }
        if !answer.is_empty() {
            ready.push(answer.into_message());
        }
    }
    if begun.is_empty() && outbox.pending_bytes() == 0 {
        return at_once(&ready);
    }
    for message in &ready {
        outbox.push(message);
    }
    spawn(session, &outbox, begun);
    session_post::stream(site, session, outbox, Vec::new())
}

fn at_once(ready: &[Vec<u8>]) -> Response<HttpBody> {
    // transports: what holds no request is answered with 202 and nothing more.
    if ready.is_empty() {
        return reply::empty(StatusCode::ACCEPTED);
    }
    let mut array = vec![b'['];
    array.extend_from_slice(&ready.join(&b','));
    array.push(b']');
    reply::json(StatusCode::OK, array)
}

/// One request of a batch: it is answered at once, or it has begun.
fn serve_member(
    site: &Arc<Site>,
    session: &HttpSession,
    peer: &Arc<Peer>,
    request: Request<'_>,
    answer: &mut sink::Response,
) -> Option<Begun> {
    let id = request.id.clone().into_owned();
    let refused = if request.method == "initialize" || method::is_modern(&request) {
        let method = &request.method;
        ErrorObject::invalid_request(format!("this `{method}` cannot be part of a batch"))
    } else if let Err(error) = session.running.check(&request) {
        error
    } else {
        let response = method::serve(&site.shared, peer, request, answer).later(peer)?;
        match session.running.begin(id.clone()) {
            Ok((ticket, cancel)) => return Some((ticket, cancel, response)),
            Err(error) => error,
        }
    };
    answer.put(|out| answer::write_error(Ok(&id.as_ref()), &refused, out));
    None
}

fn refuse_malformed(malformed: &Malformed<'_>, answer: &mut sink::Response) {
    let Some(code) = malformed.kind.code() else {
        return;
    };
    let error = ErrorObject::new(code, malformed.message.as_str());
    let id = malformed.id.as_ref().ok_or(UnreadableId::Null);
    answer.put(|out| answer::write_error(id, &error, out));
}

/// Lets the members go on side by side; the stream ends with the last of them.
fn spawn(session: &HttpSession, outbox: &Outbox, begun: Vec<Begun>) {
    let tasks: Vec<_> = begun
        .into_iter()
        .map(|(ticket, cancel, response)| {
            let outbox = outbox.clone();
            let table = session.running.clone();
            tokio::spawn(async move {
                let response = unless(&cancel, response).await;
                // Answers wait while the client does not read.
                let _ = unless(&cancel, Box::pin(outbox.ready())).await;
                table.answer(vec![(ticket, response)], |answers| {
                    for answer in answers {
                        outbox.push(&answer.into_message());
                    }
                });
            })
        })
        .collect();
    let outbox = outbox.clone();
    tokio::spawn(async move {
        for task in tasks {
            // One that panicked has no answer; the others have.
            let _ = task.await;
        }
        outbox.close();
    });
}

/// The members of a batch, unread.
fn members(body: &[u8]) -> Result<Vec<&RawValue>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let members = deserializer.deserialize_seq(Members)?;
    deserializer.end()?;
    Ok(members)
}

fn code(error: &serde_json::Error) -> i64 {
    if error.is_data() {
        code::INVALID_REQUEST
    } else {
        code::PARSE_ERROR
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a batch of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = array.next_element()? {
            if members.len() == MAX_MEMBERS {
                let message = format!("a batch has {MAX_MEMBERS} messages at the most");
                return Err(A::Error::custom(message));
            }
            members.push(member);
        }
        if members.is_empty() {
            return Err(A::Error::custom("the batch is empty"));
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &[u8]) -> (i64, String) {
        let error = members(body).unwrap_err();
        (code(&error), error.to_string())
    }

    #[test]
    fn a_batch_is_bounded() {
        let full = format!("[{}1]", "1,".repeat(MAX_MEMBERS - 1));
        assert_eq!(members(full.as_bytes()).unwrap().len(), MAX_MEMBERS);
        let over = format!("[{}1]", "1,".repeat(MAX_MEMBERS));
        let (code, message) = fault(over.as_bytes());
        assert_eq!(code, code::INVALID_REQUEST);
        assert!(message.contains("1024 messages"), "{message}");
    }

    #[test]
    fn what_is_no_batch_is_told_apart() {
        assert_eq!(fault(b"[]").0, code::INVALID_REQUEST);
        for garbled in [&b"[1"[..], b"[1,]", b"[1] 2", b"[\xff]", b"["] {
            assert_eq!(fault(garbled).0, code::PARSE_ERROR, "{garbled:?}");
        }
    }
}
