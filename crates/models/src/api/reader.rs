//! Reads a streamed answer.

use std::time::Duration;

use serde_json::Value;
use turnbuckle_transport::http::client::{HttpError, Reply};

use super::endpoint::Endpoint;
use super::refusal;
use crate::error::ModelError;
use crate::format::{Answer, AnswerError, Format, ToolList};
use crate::model::Delta;

/// 4 MiB: an event contains a few words; only a tool call may arrive in one large event.
const MAX_EVENT: usize = 4 * 1024 * 1024;

/// At most 32 MiB of one answer are kept. No model writes that much.
pub(super) const MAX_ANSWER: usize = 32 * 1024 * 1024;

/// 100 ms to wait for the end of a stream after its last event. Opening a new connection takes
/// about as long.
const MAX_FAREWELL: Duration = Duration::from_millis(100);

/// Assembles an answer from a stream of events.
pub(super) trait Assembly {
    /// Handles an event. Returns true if it was the last one.
    fn take(
        &mut self,
        data: &str,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<bool, Fault>;

    /// Returns the answer after the stream has ended.
    fn finish(self) -> Result<Answer, Fault>;
}

/// Why a stream does not contain a valid answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The stream ended too early, or an event cannot be parsed.
    BrokenOff(String),
    /// The API reported an error in the stream.
    Reported(String),
    /// The answer is longer than [`MAX_ANSWER`].
    TooLong,
}

/// Reads a stream of events, or a whole answer from a server that does not stream.
pub(super) async fn read(
    endpoint: &Endpoint,
    format: Format,
    reply: Reply,
    tools: &ToolList,
    mut assembly: impl Assembly,
    report: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Result<Answer, ModelError> {
    if !reply.is_events() {
        return whole(endpoint, format, reply, tools, report).await;
    }
    let mut events = reply.events(MAX_EVENT);
    loop {
        let limit = endpoint.silence();
        let event = match tokio::time::timeout(limit, events.next()).await {
            Ok(Ok(Some(event))) => event,
            Ok(Ok(None)) => break,
            Ok(Err(HttpError::TooLarge { limit })) => {
                let api = endpoint.name();
                return Err(ModelError::TooLong { api, limit });
            }
            Ok(Err(source)) => {
                return Err(ModelError::BrokenOff {
                    api: endpoint.name(),
                    reason: "the connection was lost".to_owned(),
                    source: Some(Box::new(source)),
                });
            }
            Err(_) => {
                let api = endpoint.name();
                return Err(ModelError::Silent { api, limit });
            }
        };
        let taken = assembly.take(&event.data, report);
        if taken.map_err(|fault| faulty(endpoint, fault))? {
            // A connection can be reused only after its response was read to the end.
            let _ = tokio::time::timeout(MAX_FAREWELL, events.next()).await;
            break;
        }
    }
    assembly.finish().map_err(|fault| faulty(endpoint, fault))
}

async fn whole(
    endpoint: &Endpoint,
    format: Format,
    reply: Reply,
    tools: &ToolList,
    report: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Result<Answer, ModelError> {
    let status = reply.status().as_u16();
    let limit = endpoint.silence();
    let Ok(body) = tokio::time::timeout(limit, reply.bytes(MAX_ANSWER)).await else {
        let api = endpoint.name();
        return Err(ModelError::Silent { api, limit });
    };
    let body = body.map_err(|error| endpoint.failed(error))?;
    let unreadable = |source| {
        let api = endpoint.name();
        ModelError::Answer { api, source }
    };
    let parsed: Value = serde_json::from_slice(&body).map_err(|_| {
        let text = refusal::message(&Value::Null, &body).unwrap_or_default();
        let beginning = endpoint.masked(&text);
        unreadable(AnswerError::NotJson { beginning })
    })?;
    // Some servers send an error with a success status.
    if let Some(Fault::Reported(message)) = reported(&parsed) {
        return Err(ModelError::Refused {
            api: endpoint.name(),
            status,
            message: endpoint.masked(&message),
        });
    }
    let answer = format.answer(&parsed, tools).map_err(unreadable)?;
    for content in &answer.result.content {
        if let Some(text) = content.as_text() {
            report(Delta::Text(text));
        }
    }
    for (index, call) in answer.calls().enumerate() {
        report(Delta::Call {
            index,
            name: &call.name,
        });
    }
    Ok(answer)
}

/// Reads an error event; `None` for other events.
pub(super) fn reported(event: &Value) -> Option<Fault> {
    event.get("error").filter(|error| !error.is_null())?;
    let said = refusal::message(event, event.to_string().as_bytes());
    Some(Fault::Reported(said.unwrap_or_default()))
}

fn faulty(endpoint: &Endpoint, fault: Fault) -> ModelError {
    let api = endpoint.name();
    match fault {
        Fault::BrokenOff(reason) => ModelError::BrokenOff {
            api,
            reason,
            source: None,
        },
        Fault::Reported(message) => ModelError::BrokenOff {
            api,
            reason: endpoint.masked(&message),
            source: None,
        },
        Fault::TooLong => ModelError::TooLong {
            api,
            limit: MAX_ANSWER,
        },
    }
}
