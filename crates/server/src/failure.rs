//! The three ways in which a call can fail: [`Reject`], [`ToolError`] and [`Fault`].
//!
//! A [`Reject`] is the peer's fault and becomes a JSON-RPC error. A [`ToolError`] is a result with
//! `isError`, for the model to read. A [`Fault`] is ours: it is logged with a number, and the peer
//! sees that number and nothing else.

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

/// Why a handler or an extractor gave no result.
///
/// Any error converts into it with `?`, and so do `String`, `&'static str`, `Box<dyn Error + Send +
/// Sync>` and the errors of `anyhow` and `eyre`: a [`Reject`] stays one, texts are for the reader,
/// everything else is [`Unexpected`](Self::Unexpected). Tools return [`ToolError`] instead, which a
/// model can read.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The request was wrong, or cannot be served. The client gets this JSON-RPC error.
    Reject(Reject),
    /// The arguments do not fit. The text is written for a model: newer revisions carry it as
    /// a tool result, older ones as a JSON-RPC error.
    Arguments(String),
    /// The client cannot be asked what the handler needs to know. A modern client gets an error
    /// with the missing capability. The model of an older client reads why the tool failed.
    Unaskable(Reject),
    /// The server is at fault. The peer sees a number, whatever the server shows of other errors;
    /// the log has the rest.
    Fault(Fault),
    /// An unexpected error. It is logged, and the peer sees what
    /// [`Server::show_errors`](crate::Server::show_errors) allows: by default a number. From a tool
    /// it becomes a result with `isError`, for the model to read.
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

    /// The failure of a handler whose error cannot be sent to another thread.
    pub(crate) fn of_unsendable(error: Box<dyn std::error::Error>) -> Self {
        Self::of(Returned::of_unsendable(error))
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        error.into_failure()
    }
}
