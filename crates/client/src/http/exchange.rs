//! One POST and its answer.

use std::{fmt, task::Poll};

use bytes::Bytes;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    Id, IdRef, Revision,
    envelope::{self, Frame, MalformedKind, Message, Response},
    http::header,
};
use turnbuckle_transport::http::{
    client::{BoxError, Events, HeaderValue, HttpError, Reply},
    sse::Event,
};

use super::{
    Fault, Http,
    fault::shown,
    head,
    position::Position,
    refusal::{HttpRefusal, is_gone, is_passing},
    session::Session,
};
use crate::{pending::Slot, relayed::RelayQueue, tap::Direction};

/// A request that is being sent.
pub(crate) struct Post<'a> {
    pub(crate) method: &'a str,
    /// The subject of the request (see [`name_of`](turnbuckle_protocol::http::name_of)), if it is known
    /// without parsing the message.
    pub(crate) name: Option<&'a str>,
    pub(crate) id: &'a Id,
    /// The revision of a modern request; `None` for a request of a session.
    pub(crate) modern: Option<Revision>,
    /// The message. Empty once it is certain that it is not sent again.
    pub(crate) message: Bytes,
    /// The slot that receives its answer.
    pub(crate) slot: &'a Slot,
    /// The queue of its events, if the request is relayed.
    pub(crate) events: Option<&'a RelayQueue>,
}

/// How a POST succeeded.
#[derive(Debug)]
pub(crate) enum Answered {
    /// The answer was delivered to its call.
    Landed,
    /// The answer is an error without the id of a request.
    Error(Box<RawValue>),
    /// The answer will come on the event stream.
    Later,
}

/// The start of an answer: its head, and its body if that is not an event stream.
enum AnswerStart {
    Answered(Answered),
    /// An event stream, with the session that the request opened.
    Events(Box<Events>, Option<Box<Session>>),
}

/// Why one attempt at a request failed.
pub(crate) enum AttemptError {
    /// A reason that another attempt would not change.
    Fault(Fault),
    /// The connection closed before any part of a response came.
    Unanswered(BoxError),
    /// The session has expired, as this fault says.
    SessionOver(Fault),
}

impl From<Fault> for AttemptError {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl Http {
    /// Sends a request once and reads the response until it contains the answer.
    ///
    /// Reading an event stream may take hours. All steps before that are boxed, so that this future is
    /// small while it reads.
    ///
    /// # Cancel safety
    /// Dropping the future closes the stream of the request.
    pub(crate) async fn attempt(
        &self,
        post: &mut Post<'_>,
        session: &Session,
    ) -> Result<Answered, AttemptError> {
        match Box::pin(self.begin(post, session)).await? {
            AnswerStart::Answered(answered) => Ok(answered),
            AnswerStart::Events(events, None) => self.read_events(post, session, events).await,
            AnswerStart::Events(events, Some(begun)) => {
                Box::pin(self.read_events(post, &begun, events)).await
            }
        }
    }

    /// Sends a request, and reads the answer unless it is an event stream.
    async fn begin(&self, post: &Post<'_>, session: &Session) -> Result<AnswerStart, AttemptError> {
        let headers = self.headers_of(post, session)?;
        let message = post.message.clone();
        self.ends.show(Direction::Out, &message);
        let attempt = self.begin_attempt();
        let posted = self.agent.post(&self.post_to(), headers, message).await;
        self.note_reach(attempt, &posted);
        let reply = match posted {
            Ok(reply) => reply,
            Err(error) if error.is_unanswered() => {
                return Err(AttemptError::Unanswered(error.into()));
            }
            Err(error) => return Err(Fault::from(error).into()),
        };
        self.note_status(&reply);
        if !reply.status().is_success() {
            let refused = Box::pin(self.refused(post, session, reply)).await;
            return refused.map(AnswerStart::Answered);
        }
        let is_first = post.method == "initialize" && !self.uses_http_sse();
        let begun = is_first.then(|| {
            let id = reply.headers().get(header::SESSION_ID);
            self.sessions.begin(id.cloned())
        });
        if self.uses_http_sse() && !reply.is_json() {
            return Ok(AnswerStart::Answered(Answered::Later));
        }
        if reply.is_events() {
            let events = Box::new(reply.events(self.limit));
            return Ok(AnswerStart::Events(events, begun.map(Box::new)));
        }
        self.read(post, reply).await.map(AnswerStart::Answered)
    }

    async fn read(&self, post: &Post<'_>, reply: Reply) -> Result<Answered, AttemptError> {
        let status = reply.status();
        let kind = BodyKind::of(&reply);
        let body = reply.bytes(self.limit).await.map_err(Fault::from)?;
        let answered = self.take(post, &body);
        self.trust_if_answered(post);
        match answered {
            Some(answered) => Ok(answered),
            None if self.uses_http_sse() => Ok(Answered::Later),
            None if body.is_empty() => {
                let problem = format!("the response with status {status} is empty");
                Err(Fault::Malformed(problem).into())
            }
            None => {
                let problem = format!(
                    "the answer is {kind}, not JSON-RPC; is this the URL of an MCP server?"
                );
                Err(Fault::Malformed(problem).into())
            }
        }
    }

    /// Closes unused connections if the body of a response did not answer the request. The server may
    /// have sent an extra response earlier, and the response to this request would then be taken for
    /// that of the next request on the connection.
    fn trust_if_answered(&self, post: &Post<'_>) {
        if !post.slot.is_settled() && !self.uses_http_sse() {
            self.agent.close_unused(&self.post_to());
        }
    }

    /// Handles a message that answers the request, or comes before its answer. Returns `None` if it is
    /// not a message.
    fn take(&self, post: &Post<'_>, message: &[u8]) -> Option<Answered> {
        let max_nodes = self.ends.profile.settings.limits.nodes_of(message.len());
        match envelope::parse_within(message, max_nodes) {
            Ok((
                Frame::One(Message::Response(Response {
                    id,
                    outcome: Err(error),
                    ..
                })),
                _,
            )) if self.lacks_id(id.as_ref()) => {
                return Some(Answered::Error(error.value().to_owned()));
            }
            Ok((Frame::One(one), _)) => {
                self.receive_parsed(one, message, post.id);
                return Some(Answered::Landed);
            }
            // The call fails when the message is received.
            Err(malformed) if malformed.kind == MalformedKind::TooManyNodes => {
                malformed.id.as_ref()?;
            }
            // If this was meant as the answer, the call fails with the error that it cannot be read.
            Err(_) => {
                self.receive(message, Some(post.id));
                return post.slot.is_settled().then_some(Answered::Landed);
            }
            Ok(_) => {}
        }
        self.receive(message, Some(post.id));
        Some(Answered::Landed)
    }

    /// Reads an answer with an error status, and the JSON-RPC error in it, if any.
    async fn refused(
        &self,
        post: &Post<'_>,
        session: &Session,
        reply: Reply,
    ) -> Result<Answered, AttemptError> {
        let refusal = HttpRefusal::read(reply, self.limit).await;
        if refusal.is_for_want_of_credentials() {
            return Err(refusal.into_fault().into());
        }
        let belongs_to_session = post.modern.is_none() && post.method != "initialize";
        if belongs_to_session && session.can_expire() && refusal.says_session_is_over(post.id) {
            return Err(AttemptError::SessionOver(refusal.into_fault()));
        }
        if refusal.is_error_of_the_protocol()
            && let Some(answered) = self.take(post, &refusal.body)
        {
            self.trust_if_answered(post);
            return Ok(answered);
        }
        Err(refusal.into_fault().into())
    }

    async fn read_events(
        &self,
        post: &mut Post<'_>,
        session: &Session,
        mut events: Box<Events>,
    ) -> Result<Answered, AttemptError> {
        let mut position = Position::default();
        let mut has_waited = false;
        loop {
            match events.next().await {
                Ok(Some(event)) => {
                    position.note(&event);
                    if let Some(answered @ Answered::Error(_)) = self.take_event(post, &event) {
                        // Dropped first, because that may keep its connection.
                        drop(events);
                        self.trust_if_answered(post);
                        return Ok(answered);
                    }
                    if post.slot.is_settled() {
                        // If too many streams are waiting, the connection of this one is closed
                        // instead.
                        let _ = self.leftovers.try_send(*events);
                        return Ok(Answered::Landed);
                    }
                    drop(event);
                    if !std::mem::replace(&mut has_waited, true) {
                        self.drop_message_of(post);
                    }
                    self.room().await;
                    // Wait until the owner of the call has read the events so far.
                    if let Some(waiting) = post.events {
                        std::future::poll_fn(|_| {
                            if waiting.is_crowded() {
                                Poll::Pending
                            } else {
                                Poll::Ready(())
                            }
                        })
                        .await;
                    }
                }
                Err(HttpError::TooLarge { limit }) => return Err(Fault::Oversized(limit).into()),
                // streamable-http: a modern stream cannot be resumed.
                Ok(None) if post.modern.is_some() || !position.is_known() => {
                    self.trust_if_answered(post);
                    let problem = "its stream ended without an answer";
                    return Err(Fault::Lost(problem.into()).into());
                }
                Err(error) if post.modern.is_some() || !position.is_known() => {
                    return Err(Fault::Lost(error.into()).into());
                }
                Ok(None) | Err(_) => {
                    events = Box::pin(self.resume(session, &mut position)).await?;
                }
            }
        }
    }

    /// Frees a message that is not sent again, because its answer may take hours.
    fn drop_message_of(&self, post: &mut Post<'_>) {
        if !self.is_repeatable(post.method, &post.message) {
            post.message = Bytes::new();
        }
    }

    /// Whether an error answers the request that it came for, although it does not have its id. Servers
    /// that could not or would not read a request leave out the id, or invent one. The id of an earlier
    /// request means that the server has answered that one twice.
    fn lacks_id(&self, id: Option<&IdRef<'_>>) -> bool {
        id.is_none_or(|id| !self.pending.has_issued(id))
    }

    fn take_event(&self, post: &Post<'_>, event: &Event) -> Option<Answered> {
        if is_message(event) {
            self.take(post, event.data.as_bytes())
        } else {
            None
        }
    }

    /// Resumes a stream that ended before its answer. It waits for the time that the server set and
    /// sends a GET, whatever request the stream belonged to.
    async fn resume(
        &self,
        session: &Session,
        position: &mut Position,
    ) -> Result<Box<Events>, AttemptError> {
        loop {
            tokio::time::sleep(position.wait()).await;
            let mut headers = head::of_session(&self.ends, session);
            position.add_to(&mut headers);
            let failure = match self.agent.events(&self.address, headers).await {
                Ok(reply) if reply.status().is_success() && reply.is_events() => {
                    return Ok(Box::new(reply.events(self.limit)));
                }
                Ok(reply) if is_passing(reply.status()) => {
                    format!("status {}", reply.status()).into()
                }
                Ok(reply) => {
                    let status = reply.status();
                    let problem = format!("its stream broke and cannot be resumed: {status}");
                    let fault = Fault::Lost(problem.into());
                    let is_over = is_gone(status) && session.can_expire();
                    return Err(if is_over {
                        AttemptError::SessionOver(fault)
                    } else {
                        fault.into()
                    });
                }
                Err(error) => error.into(),
            };
            if !position.has_failed() {
                return Err(Fault::Lost(failure).into());
            }
        }
    }
}

/// Whether an event contains a JSON-RPC message.
pub(crate) fn is_message(event: &Event) -> bool {
    let kind = event.event.as_deref();
    matches!(kind, None | Some("" | "message")) && !event.data.is_empty()
}

/// The headers that describe the body of an answer. They are only formatted for an error.
struct BodyKind {
    coding: Option<HeaderValue>,
    media_type: Option<HeaderValue>,
}

impl BodyKind {
    fn of(reply: &Reply) -> Self {
        Self {
            coding: reply.headers().get("content-encoding").cloned(),
            media_type: reply.headers().get("content-type").cloned(),
        }
    }
}

impl fmt::Display for BodyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<HeaderValue>| Some(shown(value.as_ref()?.to_str().ok()?));
        // The client does not request compression, but some servers compress anyway.
        if let Some(coding) = text(&self.coding) {
            return write!(f, "compressed with `{coding}`");
        }
        match text(&self.media_type) {
            Some(media_type) => write!(f, "`{media_type}`"),
            None => f.write_str("of unknown type"),
        }
    }
}
