//! Layers: code around calls.
//!
//! A layer sees the call before the handler and the reply after it; around the whole server with
//! [`Server::layer`](crate::Server::layer), around one tool with [`Tool::layer`](crate::Tool::layer).
//!
//! ```
//! use turnbuckle_server::{Call, Failure, Next, Reply, Server};
//!
//! async fn timed(call: Call<'static>, next: Next) -> Result<Reply, Failure> {
//!     let name = call.name().to_owned();
//!     let start = std::time::Instant::now();
//!     let reply = next.run(call).await;
//!     eprintln!("{name} took {:?}", start.elapsed());
//!     reply
//! }
//!
//! let server = Server::new("clock", "1.0.0").layer(timed);
//! ```

use std::{future::Future, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CallToolResult, GetPromptResult, ReadResourceResult};

use crate::{Call, ExtensionReply, Failure};

/// The result of a call, as layers see it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// A tool's result.
    Tool(CallToolResult),
    /// A prompt.
    Prompt(GetPromptResult),
    /// A resource's contents.
    Resource(ReadResourceResult),
    /// The result of a method of an extension.
    Extension(ExtensionReply),
}

/// Middleware: code that runs around calls. Implemented for async functions that take a [`Call`]
/// and a [`Next`].
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
pub trait Layer: Send + Sync + 'static {
    /// Serves the call, as a rule by [`Next::run`].
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

/// The rest of the layers, and the handler at the end. A layer calls [`run`](Self::run) to go on,
/// or returns early.
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
    pub async fn run(mut self, call: Call<'static>) -> Result<Reply, Failure> {
        match self.layers.next() {
            Some(layer) => layer.call(call, self).await,
            None => (self.endpoint)(call).await,
        }
    }
}
