//! The three ways in which a call can fail: [`Reject`], [`ToolError`] and [`Fault`].
//!
//! A [`Reject`] is the client's mistake and becomes a JSON-RPC error. A [`ToolError`] becomes a
//! result with `isError`, which the model reads. A [`Fault`] is an error of the server: it is
//! logged under a number, and the client gets only that number.

mod ask_failed;
mod error_texts;
mod fault;
mod field_error;
mod reject;
mod returned;
mod tool_error;

pub use ask_failed::AskFailed;
pub(crate) use error_texts::ErrorTexts;
pub use fault::Fault;
pub use field_error::FieldError;
pub use reject::Reject;
pub(crate) use returned::BoxError;
use returned::Returned;
pub use tool_error::ToolError;

/// The reason why a handler or an extractor failed.
///
/// Any error converts into it with `?`, and so do `String`, `&'static str`, `Box<dyn Error + Send +
/// Sync>` and the errors of `anyhow` and `eyre`. A [`Reject`] stays a `Reject`, a text becomes the
/// message of a JSON-RPC error, and any other error becomes [`Unexpected`](Self::Unexpected). Tools
/// return [`ToolError`] instead, which a model can read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The request is wrong, or cannot be served. The client gets this JSON-RPC error.
    Reject(Reject),
    /// The arguments do not match the schema. The text is written for a model: newer revisions
    /// carry it as a tool result, older ones as a JSON-RPC error.
    Arguments(String),
    /// The handler has a question that this client cannot be asked. A client of 2026-07-28 gets an
    /// error that names the missing capability. Otherwise the model reads why the tool failed.
    Unaskable(Reject),
    /// The server is at fault. The client gets only a number, even with
    /// [`Server::show_errors`](crate::Server::show_errors); the log has the details.
    Fault(Fault),
    /// An unexpected error. It is logged, and the client reads what
    /// [`Server::show_errors`](crate::Server::show_errors) allows: by default only a number. In a
    /// tool it becomes a result with `isError`, for the model to read.
    Unexpected(Fault),
}

impl<E: Into<BoxError> + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::of(Returned::of(error))
    }
}

impl Failure {
    fn of(returned: Returned) -> Self {
        match returned {
            Returned::Words(words) => Self::Reject(Reject::internal(words)),
            Returned::Reject(reject) => Self::Reject(reject),
            Returned::Fault(fault) => Self::Fault(fault),
            Returned::AskFailed(failed) => failed.into_failure(),
            Returned::Unexpected(fault) => Self::Unexpected(fault),
        }
    }

    /// Converts an error that cannot be sent to another thread.
    pub(crate) fn of_unsendable(error: Box<dyn std::error::Error>) -> Self {
        Self::of(Returned::of_unsendable(error))
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        error.into_failure()
    }
}
