//! Batches of a session: answered with JSON or a stream.

use std::{fmt, sync::Arc};

use http::{Response, StatusCode};
use serde::{
    Deserializer as _,
    de::{Error as _, SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use turnbuckle_protocol::{ErrorObject, envelope::parse_member, error::code};
use turnbuckle_transport::Outbox;

use super::{body::HttpBody, reply, session::HttpSession, session_stream, site::Site};
use crate::{
    Caller,
    edge::{
        batch::{self, BatchContext},
        running::Begun,
    },
};

/// Members of one batch. As many as may be in flight at once: answers are held until the last of
/// those that are ready at once, so their number must be bounded.
const MAX_MEMBERS: usize = turnbuckle_session::in_flight::MAX_IN_FLIGHT;

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
    let members = match members(body) {
        Ok(members) => members,
        Err(error) => {
            let error = ErrorObject::new(code(&error), error.to_string());
            return reply::error(StatusCode::BAD_REQUEST, None, &error);
        }
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
    let batch = here.serve(members.into_iter().map(parse_member));
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

/// The members of a batch, unread.
fn members(body: &[u8]) -> Result<Vec<&RawValue>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(body);
    let members = deserializer.deserialize_seq(MemberList)?;
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

struct MemberList;

impl<'de> Visitor<'de> for MemberList {
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
