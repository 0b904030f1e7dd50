//! A request of a legacy server, handed to a relay.

use std::fmt;

use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{ErrorObject, Id};

/// How a request of a server was assigned to a call. Gateways use it to decide whom to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Attribution {
    /// The question arrived on the call's own stream (Streamable HTTP).
    Stream,
    /// The question names the task whose result the call waits for.
    Task,
    /// The call is the only one in flight in whose middle a server may ask.
    OnlyCall,
    /// Nothing says which call it belongs to. It goes to the [`RelaySink`](crate::RelaySink).
    Unknown,
}

/// A request of a legacy server in the middle of a call: elicitation, sampling, roots, or anything
/// else but `ping`. Answer it once.
///
/// While it is open the deadlines of the connection's calls are paused. Dropping it without an
/// answer tells the server that the client failed to answer (-32603).
#[must_use = "dropping it tells the server that answering failed"]
pub struct RelayAsk {
    pub(crate) id: Id,
    pub(crate) method: Box<str>,
    pub(crate) params: Option<Box<RawValue>>,
    pub(crate) attribution: Attribution,
    pub(crate) related_task: Option<Box<str>>,
    pub(crate) reply: Box<dyn AskReply>,
}

/// The way back to the server that asks. Dropped unused, it says that answering failed.
pub(crate) trait AskReply: Send + Sync {
    /// Says nothing if the request was withdrawn, or answered already.
    fn answer(&self, outcome: Result<&RawValue, &RawValue>);

    /// Whether the server wants no answer any more.
    fn is_withdrawn(&self) -> bool;
}

impl RelayAsk {
    /// The id of the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The method: `elicitation/create`, `sampling/createMessage`, `roots/list` or another.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The params, unchanged.
    pub fn params(&self) -> Option<&RawValue> {
        self.params.as_deref()
    }

    /// How the question was assigned to its call.
    pub fn attribution(&self) -> Attribution {
        self.attribution
    }

    /// The task that it belongs to, if it names one (2025-11-25).
    pub fn related_task(&self) -> Option<&str> {
        self.related_task.as_deref()
    }

    /// Whether the server has withdrawn it. Then an answer is not sent.
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
        // An error object is a number, a text and JSON.
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
