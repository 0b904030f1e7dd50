//! A method of an extension.

use std::sync::Arc;

use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject, JsonObject, error::code, method::Method,
};

use crate::{
    Call, Failure, Handler, Layer, Reject, Reply,
    catalog::Callable,
    handler::{
        Description, Erased, function,
        outcome::{Answered, CacheMark, ExtensionReply},
    },
};

/// A method of an extension, and the function that serves it.
///
/// The function takes its params with [`Params`](crate::Params). It can have any other extractor
/// except [`Ask`](crate::Ask), because the protocol allows questions only during calls of tools,
/// prompts and resources. It returns the method's result, or a `Result` with it.
pub struct ExtensionMethod {
    pub(crate) name: &'static str,
    pub(crate) named_by: Option<&'static str>,
    pub(crate) access: Access,
    pub(crate) handler: Erased<ExtensionReply>,
    pub(crate) description: Description,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
}

/// The callers that may use a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only clients that declare the extension.
    Declared,
    /// Every caller.
    Open,
}

impl ExtensionMethod {
    /// Creates the method `M`, served by this function. Only clients that declare the extension may
    /// call it, unless it is [`open`](Self::open).
    pub fn new<M: Method, X>(handler: impl Handler<X, Answered<M::Result>>) -> Self {
        Self::with::<M, X>(handler, CacheMark::None)
    }

    /// Creates the method `M`, whose results clients may cache. For clients of 2026-07-28 and
    /// later, a result without a cache hint gets the server's [hint](crate::Server::cache).
    pub fn cacheable<M: Method, X>(handler: impl Handler<X, Answered<M::Result>>) -> Self {
        Self::with::<M, X>(handler, CacheMark::Hint)
    }

    fn with<M: Method, X>(
        handler: impl Handler<X, Answered<M::Result>>,
        caching: CacheMark,
    ) -> Self {
        let (typed, description) = function::erase(handler);
        let handler: Erased<ExtensionReply> = Box::new(move |call| {
            let running = typed(call)?;
            Ok(Box::pin(async move {
                let Answered(result) = running.await?;
                ExtensionReply::of(&result, caching)
            }))
        });
        Self {
            name: M::NAME,
            named_by: M::NAMED_BY,
            access: Access::Declared,
            handler,
            description,
            layers: Vec::new(),
        }
    }

    /// Allows every client to call the method. By default only clients that declare the extension
    /// may call it.
    pub fn open(mut self) -> Self {
        self.access = Access::Open;
        self
    }

    /// Adds a layer (middleware) around the method. Layers of the server run outside of it.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }
}

/// A method that is ready to be called.
pub(crate) struct MethodEntry {
    pub(crate) extension: String,
    pub(crate) name: &'static str,
    pub(crate) named_by: Option<&'static str>,
    pub(crate) access: Access,
    pub(crate) handler: Erased<ExtensionReply>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
}

impl MethodEntry {
    /// Checks that the caller may use the method.
    pub(crate) fn admit(&self, call: &Call<'_>) -> Result<(), Failure> {
        if self.access == Access::Open || call.client_extension(&self.extension).is_some() {
            return Ok(());
        }
        let (id, method) = (&self.extension, self.name);
        let message =
            format!("`{method}` belongs to extension `{id}`, which the client did not declare");
        let reject = if call.origin.revision.is_modern() {
            // basic: the error for a missing capability MUST name that capability.
            let required = ClientCapabilities::new().with_extension(id, JsonObject::new());
            Reject::of(ErrorObject::missing_capability(message, required))
        } else {
            Reject::new(code::METHOD_NOT_FOUND, message)
        };
        Err(Failure::Reject(reject))
    }
}

impl Callable for MethodEntry {
    type Output = ExtensionReply;

    fn handler(&self) -> &Erased<ExtensionReply> {
        &self.handler
    }

    fn layers(&self) -> &[Arc<dyn Layer>] {
        &self.layers
    }

    fn wrap(output: ExtensionReply) -> Reply {
        Reply::Extension(output)
    }

    fn unwrap(reply: Reply) -> Option<ExtensionReply> {
        match reply {
            Reply::Extension(output) => Some(output),
            _ => None,
        }
    }
}
