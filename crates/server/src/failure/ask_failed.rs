//! Errors of questions to the client.

use turnbuckle_session::round::{AskError, Impossible};

use super::FieldError;
use crate::{Failure, Fault, Reject, ToolError};

/// The reason why a question to the client was not answered.
///
/// `?` converts it into the right error for the caller: a client without the capability gets an
/// error that names it, a model reads that the user could not be reached, and mistakes of the
/// handler become faults.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskFailed {
    /// The client lacks the capability for this question. Match on this variant to continue without
    /// an answer, for example with a default.
    #[error(transparent)]
    Impossible(Impossible),
    /// The client answered with an error, for example because the user rejected sampling.
    #[error("the client did not answer `{key}`: {message} ({code})")]
    Refused {
        /// The key of the ask.
        key: String,
        /// The error code.
        code: i64,
        /// The client's message.
        message: String,
    },
    /// The answer does not match the question, or the question itself is invalid: a mistake of the
    /// client or of the handler.
    #[error(transparent)]
    Wrong(#[from] AskError),
    /// The answer is valid for the form's schema, but the Rust type cannot hold its value.
    #[error("the answer to `{key}` cannot be used: {source}")]
    FieldError {
        /// The key of the ask.
        key: String,
        /// The field, and what is wrong with it.
        source: FieldError,
    },
    /// The answer cannot be parsed as the expected type, or a stored value cannot be parsed as the
    /// type of [`Asker::memo`](crate::Asker::memo).
    #[error("the answer to `{key}` cannot be read: {source}")]
    Unreadable {
        /// The key of the ask.
        key: String,
        /// The problem.
        source: serde_json::Error,
    },
    /// The answer of the client can no longer be received, for example because the server is
    /// shutting down and the client could answer only there.
    #[error("the client's answer to `{key}` cannot be received: {reason}")]
    NotHeard {
        /// The key of the ask.
        key: String,
        /// Why, and what to do.
        reason: String,
    },
    /// The client disconnected before it answered. The handler is dropped soon.
    #[error("the client went away before it answered `{key}`")]
    Gone {
        /// The key of the ask.
        key: String,
    },
}

impl AskFailed {
    /// Converts it into the error of a tool.
    pub(crate) fn into_tool_error(self) -> ToolError {
        match self {
            Self::Refused { .. }
            | Self::FieldError { .. }
            | Self::Unreadable { .. }
            | Self::NotHeard { .. }
            | Self::Gone { .. } => ToolError::new(self.to_string()),
            other => ToolError::failed(other.into_failure()),
        }
    }

    /// Converts it into the error of a prompt or a resource.
    pub(crate) fn into_failure(self) -> Failure {
        match self {
            Self::Impossible(impossible) => Failure::Unaskable(Reject::of(impossible.to_error())),
            Self::Wrong(AskError::BadAnswer(bad)) => Failure::Reject(Reject::of(bad.to_error())),
            Self::Wrong(_) => Failure::Fault(Fault::new(self)),
            Self::Refused { .. }
            | Self::FieldError { .. }
            | Self::Unreadable { .. }
            | Self::NotHeard { .. }
            | Self::Gone { .. } => Failure::Reject(Reject::internal(self.to_string())),
        }
    }
}
