//! One POST, and all that comes of it.

use bytes::Bytes;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    Id, Revision,
    envelope::{self, Frame, Message, Response},
    http::header,
};
use turnbuckle_transport::http::{
    client::{Events, HttpError, Reply},
    sse::Event,
};

use super::{Fault, Http, fault::shown, head, position::Position, session::Session};
use crate::link::{Link, Slot};

/// The most that is read of an answer with an error status, in bytes: an error with its data, or
/// more of a web page than anybody wants.
const MAX_ERROR_BYTES: usize = 1024 * 1024;

/// A request on its way.
pub(crate) struct Post<'a> {
    pub(crate) method: &'a str,
    pub(crate) id: &'a Id,
    /// The revision of a request that is complete in itself; `None` for one of a session.
    pub(crate) modern: Option<Revision>,
    pub(crate) message: Bytes,
    /// Where its answer lands.
    pub(crate) slot: &'a Slot,
}

/// How a POST ended well.
#[derive(Debug)]
pub(crate) enum Answered {
    /// The answer has landed where it belongs.
    Landed,
    /// An error that names no request, in answer to this one.
    Error(Box<RawValue>),
    /// The answer is to come by the stream of events.
    Later,
}

impl Http {
    /// Sends a request and reads what comes back until its answer is there.
    ///
    /// # Cancel safety
    /// Dropping the future closes the stream of the request.
    pub(crate) async fn exchange(&self, link: &Link, post: &Post<'_>) -> Result<Answered, Fault> {
        let mut is_repeated = false;
        loop {
            let session = self.session();
            let headers = head::of_request(link, post, &session)?;
            let message = post.message.clone();
            let reply = self.agent.post(&self.post_to(), headers, message).await?;
            self.note_status(&reply);
            if !is_over(post, &session, &reply) {
                return self.read(link, post, &session, reply).await;
            }
            drop(reply);
            self.reopen(link, &session).await?;
            if is_repeated || !link.tools.is_repeatable(post.method, &post.message) {
                let reason = "a new one is open: call again if it may run twice";
                return Err(Fault::SessionExpired(reason.to_owned()));
            }
            is_repeated = true;
        }
    }

    async fn read(
        &self,
        link: &Link,
        post: &Post<'_>,
        session: &Session,
        reply: Reply,
    ) -> Result<Answered, Fault> {
        let status = reply.status();
        if matches!(status.as_u16(), 401 | 403) {
            return Err(Fault::unauthorized(&reply));
        }
        if !status.is_success() {
            return self.refused(post, reply).await;
        }
        if post.method == "initialize" && !self.is_answered_by_events() {
            self.begin(reply.headers().get(header::SESSION_ID).cloned());
        }
        if self.is_answered_by_events() && !reply.is_json() {
            return Ok(Answered::Later);
        }
        if reply.is_events() {
            let session = if post.method == "initialize" {
                self.session()
            } else {
                session.clone()
            };
            return self.read_events(link, post, &session, reply).await;
        }
        let kind = kind(&reply);
        let body = reply.bytes(self.limit).await?;
        match self.take(post, &body) {
            Some(answered) => Ok(answered),
            None if self.is_answered_by_events() => Ok(Answered::Later),
            None if body.is_empty() => Err(Fault::Malformed(format!(
                "status {status} came without an answer"
            ))),
            None => Err(Fault::Malformed(format!(
                "what came is {kind}, and no JSON-RPC; is this the URL of an MCP server?"
            ))),
        }
    }

    /// Takes a message that answers the request, or comes before its answer; `None` if it is none.
    fn take(&self, post: &Post<'_>, message: &[u8]) -> Option<Answered> {
        match envelope::parse(message).ok()? {
            Frame::One(Message::Response(Response {
                id,
                outcome: Err(error),
            })) if id.as_ref() != Some(&post.id.as_ref()) => {
                return Some(Answered::Error(error.to_owned()));
            }
            _ => {}
        }
        self.receive(message);
        Some(Answered::Landed)
    }

    /// Reads an answer with an error status: an error of the protocol if there is one in it.
    async fn refused(&self, post: &Post<'_>, reply: Reply) -> Result<Answered, Fault> {
        let status = reply.status();
        let is_page = reply.headers().get("content-type").is_some_and(|kind| {
            kind.to_str()
                .is_ok_and(|kind| kind.starts_with("text/html"))
        });
        let body = reply.bytes(self.limit.min(MAX_ERROR_BYTES)).await;
        let body = body.unwrap_or_default();
        let is_error = matches!(
            envelope::parse(&body),
            Ok(Frame::One(Message::Response(Response {
                outcome: Err(_),
                ..
            })))
        );
        if is_error && let Some(answered) = self.take(post, &body) {
            return Ok(answered);
        }
        let text = if is_page {
            "(a web page)".to_owned()
        } else {
            shown(&String::from_utf8_lossy(&body))
        };
        Err(Fault::Status {
            status: status.as_u16(),
            text,
        })
    }

    async fn read_events(
        &self,
        link: &Link,
        post: &Post<'_>,
        session: &Session,
        reply: Reply,
    ) -> Result<Answered, Fault> {
        let mut events = reply.events(self.limit);
        let mut position = Position::default();
        loop {
            match events.next().await {
                Ok(Some(event)) => {
                    position.note(&event);
                    if let Some(answered @ Answered::Error(_)) = self.take_event(post, &event) {
                        return Ok(answered);
                    }
                    if post.slot.is_settled() {
                        // If there are too many of them, this connection is closed instead.
                        let _ = self.leftovers.try_send(events);
                        return Ok(Answered::Landed);
                    }
                }
                Err(HttpError::TooLarge { limit }) => return Err(Fault::Oversized(limit)),
                // streamable-http: a modern stream cannot be gone on with.
                Ok(None) if post.modern.is_some() || !position.is_known() => {
                    return Err(Fault::Lost("its stream ended without an answer".into()));
                }
                Err(error) if post.modern.is_some() || !position.is_known() => {
                    return Err(Fault::Lost(error.into()));
                }
                Ok(None) | Err(_) => {
                    events = self.resume(link, session, &mut position).await?;
                }
            }
        }
    }

    fn take_event(&self, post: &Post<'_>, event: &Event) -> Option<Answered> {
        if is_message(event) {
            self.take(post, event.data.as_bytes())
        } else {
            None
        }
    }

    /// Goes on with a stream that ended before its answer: after the time that the server set, by
    /// a GET, for whatever request the stream was.
    async fn resume(
        &self,
        link: &Link,
        session: &Session,
        position: &mut Position,
    ) -> Result<Events, Fault> {
        loop {
            tokio::time::sleep(position.wait()).await;
            let mut headers = head::of_session(link, session);
            position.add_to(&mut headers);
            let failure = match self.agent.events(&self.address, headers).await {
                Ok(reply) if reply.status().is_success() && reply.is_events() => {
                    return Ok(reply.events(self.limit));
                }
                Ok(reply) if reply.status().is_server_error() => {
                    format!("status {}", reply.status()).into()
                }
                Ok(reply) => {
                    let status = reply.status();
                    let problem = format!("its stream broke and cannot be resumed: {status}");
                    return Err(Fault::Lost(problem.into()));
                }
                Err(error) => error.into(),
            };
            if !position.has_failed() {
                return Err(Fault::Lost(failure));
            }
        }
    }
}

/// Whether an event carries a message of the protocol.
pub(super) fn is_message(event: &Event) -> bool {
    let kind = event.event.as_deref();
    matches!(kind, None | Some("" | "message")) && !event.data.is_empty()
}

/// Whether the server says that the session of a request is over.
fn is_over(post: &Post<'_>, session: &Session, reply: &Reply) -> bool {
    reply.status().as_u16() == 404
        && post.modern.is_none()
        && post.method != "initialize"
        && session.can_expire()
}

fn kind(reply: &Reply) -> String {
    let kind = reply.headers().get("content-type");
    let kind = kind.and_then(|kind| kind.to_str().ok());
    kind.map_or_else(
        || "of no known type".to_owned(),
        |kind| format!("`{}`", shown(kind)),
    )
}
