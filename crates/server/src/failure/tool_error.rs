//! Tool failures that the model should read.

use turnbuckle_base::error_chain::in_one_line;
use turnbuckle_protocol::{CallToolResult, ContentBlock};

use super::{BoxError, Failure, Fault, Reject, Returned};

/// The error of a tool that ran and failed: a result with `isError`, for the model to read.
///
/// Any error converts into it with `?`; so do `String`, `&'static str`,
/// `Box<dyn Error + Send + Sync>`, and the errors of `anyhow` and `eyre`.
///
/// - Texts are shown to the model: [`ToolError::new`], `String` and `&'static str`.
///   [`ToolError::shown`] turns an error into a text.
/// - Other errors are unexpected. They are logged, and the model reads only a number, because their
///   texts may reveal tables, files and hosts. [`Server::show_errors`](crate::Server::show_errors)
///   shows them.
/// - A [`Fault`] is never shown, and a [`Reject`] stays a JSON-RPC error.
///
/// ```
/// use turnbuckle_server::ToolError;
///
/// fn seat(row: &str) -> Result<u32, ToolError> {
///     if row.is_empty() {
///         return Err(ToolError::new("say which row"));
///     }
///     let row: u32 = row.parse().map_err(ToolError::shown)?;
///     row.checked_sub(1).ok_or_else(|| "rows begin with 1".into())
/// }
/// assert!(seat("x").is_err());
/// ```
#[derive(Debug)]
pub struct ToolError(Kind);

#[derive(Debug)]
enum Kind {
    Shown(Vec<ContentBlock>),
    Reject(Reject),
    Failed(Failure),
}

impl ToolError {
    /// Creates an error with this text, which the model reads. The text should say what to do
    /// differently.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Kind::Shown(vec![ContentBlock::text(message.into())]))
    }

    /// Creates an error with content of any kind, such as text and an image. The model reads it.
    pub fn with_content(content: Vec<ContentBlock>) -> Self {
        Self(Kind::Shown(content))
    }

    /// Creates an error from the text of another error and its causes, which the model reads. Use
    /// it for errors that help the model to correct its call, such as a number that cannot be
    /// parsed.
    pub fn shown(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(in_one_line(&*error.into()))
    }

    /// Creates an internal error: it is logged, and the model reads only a number, even with
    /// [`Server::show_errors`](crate::Server::show_errors).
    pub fn fault(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::failed(Failure::Fault(Fault::new(error)))
    }

    /// Converts an error that cannot be sent to another thread.
    pub(crate) fn of_unsendable(error: Box<dyn std::error::Error>) -> Self {
        Self::of(Returned::of_unsendable(error))
    }

    fn of(returned: Returned) -> Self {
        match returned {
            Returned::Words(words) => Self::new(words),
            Returned::Reject(reject) => Self(Kind::Reject(reject)),
            Returned::Fault(fault) => Self::failed(Failure::Fault(fault)),
            Returned::AskFailed(failed) => failed.into_tool_error(),
            Returned::Unexpected(fault) => Self::failed(Failure::Unexpected(fault)),
        }
    }

    pub(crate) fn failed(failure: Failure) -> Self {
        Self(Kind::Failed(failure))
    }

    pub(crate) fn into_result(self) -> Result<CallToolResult, Failure> {
        match self.0 {
            Kind::Shown(content) => Ok(CallToolResult::new(content).with_is_error(true)),
            Kind::Reject(reject) => Err(Failure::Reject(reject)),
            Kind::Failed(failure) => Err(failure),
        }
    }

    /// Converts it for a prompt or a resource, whose results have no `isError`.
    pub(super) fn into_failure(self) -> Failure {
        match self.0 {
            Kind::Shown(content) => {
                let text = content
                    .iter()
                    .filter_map(ContentBlock::as_text)
                    .collect::<Vec<_>>();
                Failure::Reject(Reject::internal(text.join("\n")))
            }
            Kind::Reject(reject) => Failure::Reject(reject),
            Kind::Failed(failure) => failure,
        }
    }
}

impl<E: Into<BoxError> + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::of(Returned::of(error))
    }
}
