//! A request of a legacy server, passed to a relay.

use std::fmt;

use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{ErrorObject, Id};

/// How a request of a server was assigned to a call. Gateways use it to decide which client to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribution {
    /// The request arrived on the call's own stream (Streamable HTTP).
    Stream,
    /// The request names the task whose result the call waits for.
    Task,
    /// The call is the only one in progress during which a server may ask.
    OnlyCall,
    /// The call is unknown. The request goes to the [`RelaySink`](crate::RelaySink).
    Unknown,
}

/// A request of a legacy server during a call: elicitation, sampling, roots, or anything else except
/// `ping`. Answer it once.
///
/// While it is open, the deadlines of the connection's calls are paused. Dropping it without an answer
/// tells the server that the client failed to answer (-32603).
#[must_use = "dropping it tells the server that answering failed"]
pub struct RelayAsk {
    pub(crate) id: Id,
    pub(crate) method: Box<str>,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) attribution: Attribution,
    pub(crate) related_task: Option<Box<str>>,
    pub(crate) reply: Box<dyn AskReply>,
}

/// Sends the answer to the server. If it is dropped without an answer, it sends an error.
pub(crate) trait AskReply: Send + Sync {
    /// Sends nothing if the request was withdrawn, or already answered.
    fn answer(&self, outcome: Result<&RawValue, &RawValue>);

    /// Whether the server does not want an answer any more.
    fn is_withdrawn(&self) -> bool;
}

impl RelayAsk {
    /// Returns the id of the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Returns the method: `elicitation/create`, `sampling/createMessage`, `roots/list` or another.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the params, unchanged.
    pub fn params(&self) -> Option<&RawValue> {
        self.params.as_deref()
    }

    /// Returns how the request was assigned to its call.
    pub fn attribution(&self) -> Attribution {
        self.attribution
    }

    /// Returns the task that the request belongs to, if it names one (2025-11-25).
    pub fn related_task(&self) -> Option<&str> {
        self.related_task.as_deref()
    }

    /// Whether the server has withdrawn the request. If it has, an answer is not sent.
    pub fn is_withdrawn(&self) -> bool {
        self.reply.is_withdrawn()
    }

    /// Answers with this result, unchanged.
    pub fn answer(self, result: &RawValue) {
        self.reply.answer(Ok(result));
    }

    /// Answers with this error object, unchanged.
    pub fn reject(self, error: &RawValue) {
        self.reply.answer(Err(error));
    }

    /// Answers with an error.
    pub fn refuse(self, error: &ErrorObject) {
        // This cannot fail: an error object is a number, a string and JSON.
        if let Ok(error) = to_raw_value(error) {
            self.reply.answer(Err(&error));
        }
    }
}

impl fmt::Debug for RelayAsk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayAsk")
            .field("id", &self.id)
            .field("method", &self.method)
            .field("attribution", &self.attribution)
            .finish_non_exhaustive()
    }
}
