//! `Connection::relay`: passes requests on unchanged.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use serde_json::value::RawValue;
use tracing::{Instrument as _, Span};
use turnbuckle_protocol::{
    ErrorObject, Revision, TraceContext,
    envelope::{self, Edit, Members, Raw, RawText},
};
use turnbuckle_session::requests::Deadline;
use turnbuckle_telemetry::{Operation, Side, Target, record_error, record_tool_error};

use super::{RelayCall, RelayRequest, call::RelayState, request::AnswerDeadline};
#[cfg(feature = "http")]
use crate::call::refetch_tools;
use crate::{
    connection::Connection,
    error::CallError,
    link::{Canceller, Link, RelayAttempt, RelayOutcome},
    relayed::{RelayEvent, RelayQueue},
};

impl Connection {
    /// Passes a request on unchanged. [`RelayCall::next`] returns everything that the server sends
    /// for it, unchanged: nothing is checked, cached, answered or translated.
    ///
    /// Create the client with [`Client::relaying`](crate::Client::relaying). Any other client answers
    /// questions itself, and does not pass log messages to the call.
    ///
    /// There are two exceptions. If a modern server refuses the headers of a tool call (-32020), the
    /// tools are listed and the call is sent again. If a session has expired, another is opened, and a
    /// request that can safely run twice is sent again.
    ///
    /// # Errors
    /// [`CallError::Closed`] if the connection has ended, [`CallError::Busy`] if too many calls are
    /// waiting, and [`CallError::Unwritable`] if the params are not an object.
    pub fn relay(&self, request: RelayRequest) -> Result<RelayCall, CallError> {
        if !turnbuckle_telemetry::are_spans_wanted() {
            return self.relay_as(request, None);
        }
        let span = span_of(self.server().revision(), &request);
        let request = in_trace(request, &span);
        self.relay_as(request, Some(span))
    }

    fn relay_as(&self, request: RelayRequest, span: Option<Span>) -> Result<RelayCall, CallError> {
        let mut relayed = Relayed {
            link: self.shared_link(),
            request,
            queue: Arc::default(),
            canceller: Canceller::new(),
        };
        let first = relayed.attempt()?;
        if !relayed.may_be_sent_again(&first) {
            // The params may be large, and the call may take hours.
            relayed.request.params = None;
        }
        Ok(RelayCall {
            id: first.id().clone(),
            queue: relayed.queue.clone(),
            canceller: relayed.canceller.clone(),
            state: RelayState::Running(relayed.begin(first, span)),
        })
    }

    /// Passes a notification on unchanged.
    ///
    /// # Errors
    /// [`CallError::Closed`] if the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn relay_notification(
        &self,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), CallError> {
        let link = self.link();
        let mut message = Vec::new();
        envelope::write_notification(&mut message, method, &params)
            .map_err(|source| CallError::unwritable(method, source))?;
        let sent = link.send(&message).await;
        sent.map_err(|_| link.closed(method))
    }
}

/// The span of a relayed request: a child of the current span, or of the span that the request names.
fn span_of(revision: Revision, request: &RelayRequest) -> Span {
    let params = request.params.as_ref().map(RawText::raw);
    let members = params.and_then(Members::of);
    let subject = |name| members.as_ref().and_then(|members| members.text(name));
    let subject = subject("name")
        .or_else(|| subject("uri"))
        .unwrap_or_default();
    let remote = members.as_ref().and_then(Members::meta);
    let remote = remote.and_then(TraceContext::of_request);
    let is_alone = Span::current().is_none();
    let operation = Operation {
        side: Side::Client,
        method: &request.method,
        target: Target::of(&request.method, &subject),
        revision,
        session: None,
        request: None,
    };
    operation.span(remote.as_ref().filter(|_| is_alone))
}

/// Makes the span the parent of the server's spans. If spans have no ids, the params are not changed.
fn in_trace(mut request: RelayRequest, span: &Span) -> RelayRequest {
    let Some(trace) = span.in_scope(turnbuckle_telemetry::span_identity) else {
        return request;
    };
    let params = request.params.as_ref();
    let mut edit = Edit::new(params.map_or(Raw::EMPTY_OBJECT, RawText::raw));
    for (name, value) in trace.entries() {
        edit = edit.set_text(&["_meta", name], &value);
    }
    if let Ok(edited) = edit.finish() {
        request.params = Some(edited);
    }
    request
}

async fn in_span(span: Span, work: impl Future<Output = RelayEvent>) -> RelayEvent {
    let event = work.instrument(span.clone()).await;
    match &event {
        RelayEvent::Error(raw) => {
            if let Ok(error) = ErrorObject::read(raw.get()) {
                record_error(&span, error.code, &error.message);
            }
        }
        RelayEvent::Result(raw) if says_error(raw) => record_tool_error(&span),
        RelayEvent::Lost(error) => {
            span.record("error.type", "lost");
            span.record("otel.status_code", "ERROR");
            span.record("otel.status_description", tracing::field::display(error));
        }
        _ => {}
    }
    event
}

/// Whether a result says that the tool failed.
fn says_error(raw: &RawValue) -> bool {
    let said = Raw::from(raw).member("isError");
    said.is_some_and(|said| said.get() == "true")
}

/// A request that is relayed, and may be sent twice.
struct Relayed {
    link: Arc<Link>,
    request: RelayRequest,
    queue: Arc<RelayQueue>,
    canceller: Canceller,
}

impl Relayed {
    fn attempt(&self) -> Result<RelayAttempt, CallError> {
        let settings = &self.link.profile().settings;
        let deadline = match self.request.deadline {
            AnswerDeadline::Usual => settings.deadline(None),
            AnswerDeadline::Within(time) => settings.deadline(Some(time)),
            AnswerDeadline::Endless => Deadline::never(),
        };
        RelayAttempt::new(
            self.link.clone(),
            &self.request.method,
            self.request.params.as_ref(),
            self.request.wanted,
            deadline,
            &self.queue,
            &self.canceller,
        )
    }

    /// The future of the call. A call may take hours, so the future holds as little as possible.
    fn begin(self, mut first: RelayAttempt, span: Option<Span>) -> BoxFuture<'static, RelayEvent> {
        if !self.link.wire.is_http() {
            return match span {
                None => Box::pin(async move { event(first.run_on_pipe().await) }),
                Some(span) => Box::pin(in_span(
                    span,
                    async move { event(first.run_on_pipe().await) },
                )),
            };
        }
        match span {
            None => Box::pin(async move { self.run(&mut first).await }),
            Some(span) => Box::pin(in_span(span, async move { self.run(&mut first).await })),
        }
    }

    async fn run(&self, first: &mut RelayAttempt) -> RelayEvent {
        let outcome = first.run().await;
        #[cfg(feature = "http")]
        if let Ok(Err(error)) = &outcome
            && self.is_outdated(first, error)
        {
            first.leave();
            if !Box::pin(refetch_tools(&self.link)).await {
                return event(outcome);
            }
            // streamable-http: after a header mismatch, list the tools again and retry.
            return match self.attempt() {
                Ok(mut second) => event(Box::pin(second.run()).await),
                Err(error) => RelayEvent::Lost(error),
            };
        }
        event(outcome)
    }

    /// Whether there is an error after which the request is sent again. In a session there is none.
    fn may_be_sent_again(&self, first: &RelayAttempt) -> bool {
        first.is_modern() && &*self.request.method == "tools/call" && self.link.wire.is_http()
    }

    /// Whether an error says that the list of tools is out of date.
    #[cfg(feature = "http")]
    fn is_outdated(&self, first: &RelayAttempt, error: &RawValue) -> bool {
        #[derive(serde::Deserialize)]
        struct Code {
            code: i64,
        }

        self.may_be_sent_again(first)
            && serde_json::from_str::<Code>(error.get())
                .is_ok_and(|error| error.code == turnbuckle_protocol::error::code::HEADER_MISMATCH)
    }
}

fn event(outcome: RelayOutcome) -> RelayEvent {
    match outcome {
        Ok(Ok(result)) => RelayEvent::Result(result),
        Ok(Err(error)) => RelayEvent::Error(error),
        Err(error) => RelayEvent::Lost(error),
    }
}
