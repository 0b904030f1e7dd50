//! The three ways in which a call can fail: [`Reject`], [`ToolError`] and [`Fault`].
//!
//! A [`Reject`] is the peer's fault and becomes a JSON-RPC error. A [`ToolError`] is a result with
//! `isError`, for the model to read. A [`Fault`] is ours: it is logged with a number, and the peer
//! sees that number and nothing else.

mod ask_failed;
mod fault;
mod misfit;
mod reject;
mod tool_error;

pub use ask_failed::AskFailed;
pub use fault::Fault;
pub use misfit::Misfit;
pub use reject::Reject;
pub use tool_error::ToolError;

/// Why a handler or an extractor gave no result.
///
/// Any error converts into it with `?`: a [`Reject`] stays one, everything else is a [`Fault`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The request was wrong.
    Reject(Reject),
    /// The arguments do not fit. The text is written for a model: newer revisions carry it as
    /// a tool result, older ones as a JSON-RPC error.
    Arguments(String),
    /// The client cannot be asked what the handler needs to know. A modern client is told which
    /// capability is missing; the model behind an older one reads why the tool gave up.
    Unaskable(Reject),
    /// We are at fault.
    Fault(Fault),
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        let error: Box<dyn std::error::Error + Send + Sync> = Box::new(error);
        match error.downcast::<Reject>() {
            Ok(reject) => Self::Reject(*reject),
            Err(error) => match error.downcast::<Fault>() {
                Ok(fault) => Self::Fault(*fault),
                Err(error) => match error.downcast::<AskFailed>() {
                    Ok(failed) => failed.into_failure(),
                    Err(error) => Self::Fault(Fault::from_box(error)),
                },
            },
        }
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        error.into_failure()
    }
}
