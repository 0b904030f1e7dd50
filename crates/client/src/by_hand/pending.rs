//! `Pending`: a call that waits for answers, as data.

use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::value::RawValue;
use turnbuckle_protocol::{GetPromptResult, InputRequests, InputResponses, ReadResourceResult};

use crate::{call::ClientCall, connection::Connection, task::TaskTicket, tool::ToolOutput};

/// The result of a call by hand, or of resuming one: either the call is done, or the server has
/// questions.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for a call, taken apart where it is made"
)]
pub enum Round<R> {
    /// The result of the call.
    Done(R),
    /// The server has questions. Resume the call with the answers, with
    /// [`Connection::resume`](crate::Connection::resume).
    Asked(Pending<R>),
}

/// A call that waits for answers. Pass it to [`Connection::resume`] with the answers.
///
/// It is plain data: the request with its arguments, the server's questions, and the opaque state that
/// the server expects back. Once serialised, a call to a modern server can be resumed by another
/// process. A call in a session can only be resumed on its connection;
/// [`is_portable`](Self::is_portable) says which kind it is.
///
/// The state and the arguments may be secret: protect a stored `Pending` accordingly.
///
/// [`Connection::resume`]: crate::Connection::resume
#[derive(Serialize)]
#[serde(transparent)]
pub struct Pending<R> {
    pub(super) call: PendingCall,
    #[serde(skip)]
    result: PhantomData<fn() -> R>,
}

/// The data of a [`Pending`], without the type of its result.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PendingCall {
    pub(super) method: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uri: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Box<RawValue>>,
    pub(super) input_requests: InputRequests,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_state: Option<String>,
    /// How often the server has asked so far.
    pub(super) rounds: usize,
    /// The ticket of the parked call, for a call of a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parked: Option<String>,
    /// The task that asks, if the call has become a task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) task: Option<TaskTicket>,
    /// Whether the server refused the call until the user has visited URLs (-32042).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_visit_first: bool,
}

impl<R> From<PendingCall> for Pending<R> {
    fn from(call: PendingCall) -> Self {
        Self {
            call,
            result: PhantomData,
        }
    }
}

/// The results of calls during which a server may ask: tool calls, prompts and resources. The trait is
/// sealed and implemented for these three only.
pub trait Answerable: sealed::Sealed + Send + 'static {
    /// The method of the call.
    const METHOD: &'static str;

    /// Makes the same call again.
    #[doc(hidden)]
    fn again<'a>(connection: &'a Connection, pending: &Pending<Self>) -> ClientCall<'a, Self>
    where
        Self: Sized;
}

impl Answerable for ToolOutput {
    const METHOD: &'static str = "tools/call";

    fn again<'a>(connection: &'a Connection, pending: &Pending<Self>) -> ClientCall<'a, Self> {
        connection.call(pending.subject(), &pending.call.arguments)
    }
}

impl Answerable for GetPromptResult {
    const METHOD: &'static str = "prompts/get";

    fn again<'a>(connection: &'a Connection, pending: &Pending<Self>) -> ClientCall<'a, Self> {
        connection.get(pending.subject(), &pending.call.arguments)
    }
}

impl Answerable for ReadResourceResult {
    const METHOD: &'static str = "resources/read";

    fn again<'a>(connection: &'a Connection, pending: &Pending<Self>) -> ClientCall<'a, Self> {
        connection.read(pending.subject())
    }
}

impl<R> Pending<R> {
    /// Returns the server's questions by key: elicitation, sampling or roots. Use the same keys for the
    /// answers.
    pub fn asks(&self) -> &InputRequests {
        &self.call.input_requests
    }

    /// Returns the name of the tool or prompt, or the URI of the resource.
    pub fn subject(&self) -> &str {
        let Self { call, .. } = self;
        call.name
            .as_deref()
            .or(call.uri.as_deref())
            .unwrap_or_default()
    }

    /// Returns how often the server has asked so far, including this time.
    pub fn rounds(&self) -> usize {
        self.call.rounds
    }

    /// Whether another process can resume the call after it was serialised. Calls in sessions can only
    /// be resumed on their connection.
    pub fn is_portable(&self) -> bool {
        self.call.parked.is_none()
    }

    /// Whether the server refused the call until the user has visited the given URLs (-32042).
    /// Resume it once they have been visited: the call is sent again.
    pub fn is_visit_first(&self) -> bool {
        self.call.is_visit_first
    }

    /// Keeps only answers to questions that were asked; mrtr: servers ignore the others.
    pub(crate) fn only_asked(&self, mut answers: InputResponses) -> InputResponses {
        answers.retain(|key, _| self.call.input_requests.contains_key(key));
        answers
    }
}

impl<R> Clone for Pending<R> {
    fn clone(&self) -> Self {
        self.call.clone().into()
    }
}

impl<R> std::fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pending")
            .field("method", &self.call.method)
            .field("subject", &self.subject())
            .field("asks", &self.call.input_requests.keys().collect::<Vec<_>>())
            .field("rounds", &self.call.rounds)
            .finish_non_exhaustive()
    }
}

impl<'de, R: Answerable> Deserialize<'de> for Pending<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let call = PendingCall::deserialize(deserializer)?;
        if call.method != R::METHOD {
            let (found, wanted) = (call.method, R::METHOD);
            return Err(D::Error::custom(format_args!(
                "this is a call of `{found}`, not of `{wanted}`"
            )));
        }
        Ok(call.into())
    }
}

mod sealed {
    //! Seals the trait for the results of the three methods during which a server may ask.

    pub trait Sealed {}
    impl Sealed for super::ToolOutput {}
    impl Sealed for super::GetPromptResult {}
    impl Sealed for super::ReadResourceResult {}
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_down_is_read_again_and_only_as_what_it_is() {
        let written = json!({
            "method": "tools/call", "name": "book", "arguments": {"row": 1.50},
            "inputRequests": {"dirs": {"method": "roots/list"}},
            "requestState": "s", "rounds": 2,
        });
        let pending: Pending<ToolOutput> = serde_json::from_value(written.clone()).unwrap();
        assert!(pending.is_portable());
        assert_eq!((pending.subject(), pending.rounds()), ("book", 2));
        assert_eq!(serde_json::to_value(pending.clone()).unwrap(), written);
        let text = serde_json::to_string(&pending).unwrap();
        assert!(serde_json::from_str::<Pending<ToolOutput>>(&text).is_ok());
        let other = serde_json::from_value::<Pending<GetPromptResult>>(written).unwrap_err();
        assert!(other.to_string().contains("`tools/call`"), "{other}");
    }
}
