//! Messages that are not valid JSON-RPC, and the errors for their answers.

use super::IdRef;

/// Why a message could not be parsed, and the id for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed<'a> {
    /// The problem.
    pub kind: MalformedKind,
    /// The id of the request, if it could still be parsed.
    pub id: Option<IdRef<'a>>,
    /// The reason in one clause, for the peer's log.
    pub message: String,
}

/// The ways in which a message can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MalformedKind {
    /// Not JSON, or not UTF-8: −32700.
    NotJson,
    /// JSON, but not a request: −32600.
    NotARequest,
    /// More values than may be parsed at once: −32600.
    TooManyNodes,
    /// A request whose `params` are not an object: −32602.
    BadParams,
    /// Only an id: −32600, unless the id is that of a request which waits for an answer.
    NoOutcome,
    /// An invalid response or notification. JSON-RPC has no answer to either, so it is dropped.
    NoAnswer,
}

impl MalformedKind {
    /// Returns the JSON-RPC error code for the answer; `None` if the message must be dropped.
    pub fn code(self) -> Option<i64> {
        match self {
            Self::NotJson => Some(-32700),
            Self::NotARequest | Self::NoOutcome | Self::TooManyNodes => Some(-32600),
            Self::BadParams => Some(-32602),
            Self::NoAnswer => None,
        }
    }
}

impl<'a> Malformed<'a> {
    pub(super) fn new(
        kind: MalformedKind,
        id: Option<IdRef<'a>>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            id,
            message: message.into(),
        }
    }
}
