//! Layers: middleware around calls.
//!
//! A layer sees the call before the handler and the reply after it.
//! [`Server::layer`](crate::Server::layer) adds one for the whole server,
//! [`Tool::layer`](crate::Tool::layer) for one tool.

use std::{future::Future, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CallToolResult, GetPromptResult, ReadResourceResult};

use crate::{Call, ExtensionReply, Failure};

/// The result of a call, as layers see it. A layer may change it, but must return the kind that it
/// got: a result of another kind is a fault.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// The result of a tool, including one that reports an error (`isError`).
    Tool(CallToolResult),
    /// The messages of a prompt.
    Prompt(GetPromptResult),
    /// The contents of a resource.
    Resource(ReadResourceResult),
    /// The result of a method of an extension.
    Extension(ExtensionReply),
}

/// Middleware: code that runs around calls, for permissions, limits, metrics, or values for
/// extractors. Implemented for async functions that take a [`Call`] and a [`Next`]. Add it with
/// [`Server::layer`](crate::Server::layer) or to a single tool, prompt or resource.
///
/// ```
/// use turnbuckle_server::{Call, Failure, Next, Reply, Server};
///
/// async fn timed(call: Call<'static>, next: Next) -> Result<Reply, Failure> {
///     let (name, start) = (call.name().to_owned(), std::time::Instant::now());
///     let reply = next.run(call).await;
///     println!("{name} took {:?}", start.elapsed());
///     reply
/// }
///
/// let server = Server::new("s", "1.0.0").layer(timed);
/// # server.build().unwrap();
/// ```
///
/// A layer that returns without calling [`Next::run`] answers in place of the handler. Layers see
/// calls of tools, prompts, resources and extension methods, not lists and other requests. A
/// handler that asks a question may run several times for one call, and the layers with it.
pub trait Layer: Send + Sync + 'static {
    /// Serves the call: inspects it, calls [`Next::run`], and returns the reply, changed or not.
    ///
    /// # Errors
    /// A [`Failure`] is sent to the client as if the handler had returned it.
    ///
    /// # Cancel safety
    /// The future is dropped when the call is cancelled.
    fn call(&self, call: Call<'static>, next: Next) -> BoxFuture<'static, Result<Reply, Failure>>;
}

impl<F, Fut> Layer for F
where
    F: Fn(Call<'static>, Next) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Reply, Failure>> + Send + 'static,
{
    fn call(&self, call: Call<'static>, next: Next) -> BoxFuture<'static, Result<Reply, Failure>> {
        Box::pin(self(call, next))
    }
}

/// The remaining layers and the handler. A layer calls [`run`](Self::run) to continue the call, or
/// returns its own reply or error.
pub struct Next {
    layers: std::vec::IntoIter<Arc<dyn Layer>>,
    endpoint: Endpoint,
}

/// The innermost function, which the last layer calls.
pub(crate) type Endpoint =
    Box<dyn FnOnce(Call<'static>) -> BoxFuture<'static, Result<Reply, Failure>> + Send>;

impl Next {
    pub(crate) fn new(layers: Vec<Arc<dyn Layer>>, endpoint: Endpoint) -> Self {
        Self {
            layers: layers.into_iter(),
            endpoint,
        }
    }

    /// Runs the next layer, or the handler if there are no more layers. Returns its result.
    ///
    /// # Errors
    /// The failure of the handler, of one of its extractors, or of an inner layer.
    ///
    /// # Cancel safety
    /// Dropping the future drops the inner layers and the handler.
    pub async fn run(mut self, call: Call<'static>) -> Result<Reply, Failure> {
        match self.layers.next() {
            Some(layer) => layer.call(call, self).await,
            None => (self.endpoint)(call).await,
        }
    }
}
