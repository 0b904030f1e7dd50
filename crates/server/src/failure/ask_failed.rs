//! Errors of questions to the client.

use turnbuckle_session::round::{AskError, Impossible};

use super::FieldError;
use crate::{Failure, Fault, Reject, ToolError};

/// Why a question to the client got no answer.
///
/// `?` converts it into the right error for the caller: a client without the capability gets an error
/// that names it, a model reads that the user could not be reached, and mistakes of the handler are
/// faults.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskFailed {
    /// This client cannot be asked this: it lacks the capability. Match on it to go another way,
    /// such as a default.
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
    /// The answer does not fit the question, or the question cannot be asked: a mistake of the
    /// client or of the handler.
    #[error(transparent)]
    Wrong(#[from] AskError),
    /// The form was filled in with a value that fits its schema, but not the Rust type.
    #[error("the answer to `{key}` cannot be used: {source}")]
    FieldError {
        /// The key of the ask.
        key: String,
        /// The field, and what is wrong with it.
        source: FieldError,
    },
    /// The answer cannot be read as the type that was asked for, or a kept value not as the type of
    /// [`Asker::memo`](crate::Asker::memo).
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
    /// The client went away while it was asked. The handler is dropped soon.
    #[error("the client went away before it answered `{key}`")]
    Gone {
        /// The key of the ask.
        key: String,
    },
}

impl AskFailed {
    /// The error for the caller of a tool.
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

    /// The error for the caller of a prompt or a resource.
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
