//! `Model`: the trait of a language model.

use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

use crate::error::ModelError;
use crate::format::{Answer, Rewrite};

/// A model that continues conversations.
///
/// The conversation, its tools and its limits have the form of the protocol's
/// `sampling/createMessage`, so a server's request can be passed on unchanged. The adapters are
/// [`OpenAi`](crate::OpenAi), [`Anthropic`](crate::Anthropic), and [`Scripted`](crate::Scripted)
/// for tests and demos.
pub trait Model: Send + Sync {
    /// The name of the model. Hints choose models by their names; the name is also shown to users
    /// and included in answers.
    fn name(&self) -> &str;

    /// Requests the next turn, reports its parts as they arrive, and returns the whole answer.
    ///
    /// # Errors
    /// [`ModelError`] if there is no answer, or an incomplete one. [`ModelError::is_transient`]
    /// says whether retrying may help, and [`ModelError::hint`] what the user can do.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection to the API, which stops the model.
    fn answer<'a>(
        &'a self,
        params: &'a CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;

    /// The parts of these tools that the model's API does not support, and how they are rewritten.
    /// Defaults to none.
    fn rewrites(&self, tools: &[Tool]) -> Vec<Rewrite> {
        let _ = tools;
        Vec::new()
    }
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn answer<'a>(
        &'a self,
        params: &'a CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        (**self).answer(params, report)
    }

    fn rewrites(&self, tools: &[Tool]) -> Vec<Rewrite> {
        (**self).rewrites(tools)
    }
}

/// A part of an answer that is still being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delta<'a> {
    /// More text.
    Text(&'a str),
    /// The model begins to write a tool call. Its arguments follow; the whole call is in the answer.
    Call {
        /// The index of the call in this answer.
        index: usize,
        /// The host's name of the tool.
        name: &'a str,
    },
    /// More of the arguments of a call, as JSON text that may be cut anywhere.
    Arguments {
        /// The index of the call in this answer.
        index: usize,
        /// The text.
        text: &'a str,
    },
    /// The API is busy, and the request is repeated after a pause. No part of the answer was
    /// reported before.
    Waiting {
        /// The pause.
        time: Duration,
        /// The message of the API.
        reason: &'a str,
    },
}
