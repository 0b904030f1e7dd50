//! The tools of an agent.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CallToolResult, JsonObject, ProgressNotificationParams, Tool};

/// Any error of a tool call.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The tools that an agent may call: those of a host, or any others.
///
/// Names and arguments come from a model, so treat them as untrusted.
pub trait Tools: Send + Sync {
    /// The current tools, with the names under which they are called. It is called before each
    /// round, so the list may change during a run.
    fn tools(&self) -> BoxFuture<'_, Vec<Tool>>;

    /// Calls a tool. The implementation decides whether the call is allowed.
    ///
    /// The model gets an error as the result of the call.
    ///
    /// # Cancel safety
    /// The future is dropped when the agent is stopped. This must cancel the call.
    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<CallToolResult, BoxError>>;

    /// Why a tool is missing from [`tools`](Self::tools), if this is known. The reason is sent to
    /// the model, which may have called the tool before. Defaults to `None`.
    fn why_missing(&self, name: &str) -> Option<BoxError> {
        let _ = name;
        None
    }

    /// Whether a tool may run while others run. The calls of one answer run concurrently, unless
    /// one of them may not overlap. Defaults to true.
    fn may_overlap(&self, name: &str) -> bool {
        let _ = name;
        true
    }
}

impl<T: Tools + ?Sized> Tools for Arc<T> {
    fn tools(&self) -> BoxFuture<'_, Vec<Tool>> {
        (**self).tools()
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<CallToolResult, BoxError>> {
        (**self).call(call)
    }

    fn why_missing(&self, name: &str) -> Option<BoxError> {
        (**self).why_missing(name)
    }

    fn may_overlap(&self, name: &str) -> bool {
        (**self).may_overlap(name)
    }
}

/// One call of a tool.
#[non_exhaustive]
pub struct ToolCall<'a> {
    /// The id that the model gave the call. It is unique within a round.
    pub id: &'a str,
    /// The name of the tool.
    pub name: &'a str,
    /// The arguments.
    pub arguments: &'a JsonObject,
    /// Receives the progress that the server reports.
    pub progress: &'a (dyn Fn(&ProgressNotificationParams) + Send + Sync),
}
