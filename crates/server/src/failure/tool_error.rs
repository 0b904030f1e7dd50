//! Tool failures that the model should read.

use turnbuckle_protocol::{CallToolResult, ContentBlock};

use super::{Failure, Fault, Reject};
use crate::AskFailed;

/// A tool that did not do what it was asked: a result with `isError`, for the model to read.
///
/// Any error converts into it with `?`, and the model reads that error's message. Wrap an error in
/// [`Fault`] where its message must not leave the process; a [`Reject`] stays a JSON-RPC error.
///
/// ```
/// use turnbuckle_server::ToolError;
///
/// fn seat(row: &str) -> Result<u32, ToolError> {
///     if row.is_empty() {
///         return Err(ToolError::new("say which row"));
///     }
///     Ok(row.parse()?)
/// }
/// assert!(seat("x").is_err());
/// ```
#[derive(Debug)]
pub struct ToolError(Kind);

#[derive(Debug)]
enum Kind {
    Shown(Vec<ContentBlock>),
    Reject(Reject),
    Fault(Fault),
    Failed(Failure),
}

impl ToolError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Kind::Shown(vec![ContentBlock::text(message.into())]))
    }

    /// An error with content of any kind.
    pub fn with_content(content: Vec<ContentBlock>) -> Self {
        Self(Kind::Shown(content))
    }

    /// Our own fault: logged, and hidden from the peer.
    pub fn fault(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Kind::Fault(Fault::new(error)))
    }

    pub(crate) fn failed(failure: Failure) -> Self {
        Self(Kind::Failed(failure))
    }

    pub(crate) fn into_result(self) -> Result<CallToolResult, Failure> {
        match self.0 {
            Kind::Shown(content) => Ok(CallToolResult::new(content).with_is_error(true)),
            Kind::Reject(reject) => Err(Failure::Reject(reject)),
            Kind::Fault(fault) => Err(Failure::Fault(fault)),
            Kind::Failed(failure) => Err(failure),
        }
    }

    /// The failure of a prompt or a resource, which have no `isError`.
    pub(super) fn into_failure(self) -> Failure {
        match self.0 {
            Kind::Shown(content) => {
                let text = content
                    .iter()
                    .filter_map(ContentBlock::as_text)
                    .collect::<Vec<_>>();
                Failure::Reject(Reject::new(
                    turnbuckle_protocol::error::code::INTERNAL_ERROR,
                    text.join("\n"),
                ))
            }
            Kind::Reject(reject) => Failure::Reject(reject),
            Kind::Fault(fault) => Failure::Fault(fault),
            Kind::Failed(failure) => failure,
        }
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let error: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
        match error.downcast::<Reject>() {
            Ok(reject) => Self(Kind::Reject(*reject)),
            Err(error) => match error.downcast::<Fault>() {
                Ok(fault) => Self(Kind::Fault(*fault)),
                Err(error) => match error.downcast::<AskFailed>() {
                    Ok(failed) => failed.into_tool_error(),
                    Err(error) => Self::new(error.to_string()),
                },
            },
        }
    }
}
