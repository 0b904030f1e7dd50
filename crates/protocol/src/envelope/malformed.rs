//! Messages that are not valid JSON-RPC, and the errors to answer them with.

use super::IdRef;

/// Why a message could not be read, and whom to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Malformed<'a> {
    /// The problem.
    pub kind: MalformedKind,
    /// The id of the request, where it could still be read.
    pub id: Option<IdRef<'a>>,
    /// One clause for the peer's log.
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
    /// More values than may be read at once: −32600.
    TooManyNodes,
    /// A request whose `params` are not an object: −32602.
    BadParams,
    /// An id and nothing else: −32600, unless the id is that of a request which waits for an answer.
    NoOutcome,
    /// A broken response or notification. JSON-RPC has no answer to either, so it is dropped.
    NoAnswer,
}

impl MalformedKind {
    /// The JSON-RPC error code to answer with; `None` where the message is to be dropped.
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
