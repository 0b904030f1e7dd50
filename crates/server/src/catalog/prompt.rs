//! `Prompt`, the builder of a prompt.

use std::sync::Arc;

use serde_json::Value;
use turnbuckle_protocol::{self as protocol, GetPromptResult, Icon};

use super::{completion::Completers, tool::Visible};
use crate::{
    Caller, Completer, Handler, Layer,
    handler::{Description, Erased, function},
};

/// A prompt: a handler that returns messages, and its description.
///
/// `#[prompt]` makes one from a function; use this to make one without the attribute.
///
/// ```
/// use turnbuckle_server::{Prompt, Server};
///
/// let prompt = Prompt::new("review", async || "Review this code: look for mistakes first.")
///     .about("Asks for a code review.");
/// let server = Server::new("reviews", "1.0.0").prompt(prompt);
/// # server.build().unwrap();
/// ```
pub struct Prompt {
    pub(crate) wire: protocol::Prompt,
    pub(crate) handler: Erased<GetPromptResult>,
    pub(crate) description: Description,
    pub(crate) completers: Completers,
    pub(crate) visible: Option<Visible>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
}

impl Prompt {
    /// Creates a prompt with this name and handler. The handler is an async function of extractors
    /// that returns text or messages. The arguments of the prompt are the fields of the handler's
    /// [`Args`](crate::Args).
    ///
    /// Mistakes, such as an empty name, are reported when the server is built.
    pub fn new<X, H: Handler<X, GetPromptResult>>(name: impl Into<String>, handler: H) -> Self {
        let (handler, description) = function::erase(handler);
        Self {
            wire: protocol::Prompt::new(name),
            handler,
            description,
            completers: Completers::default(),
            visible: None,
            layers: Vec::new(),
        }
    }

    /// Sets the description: what the prompt is for. People read it when they choose one.
    pub fn about(mut self, description: impl Into<String>) -> Self {
        self.wire.description = Some(description.into());
        self
    }

    /// Sets a title, which clients show to people in place of the name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.wire.title = Some(title.into());
        self
    }

    /// Adds an icon, which clients may show. Call it several times for several sizes.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.wire.icons.get_or_insert_default().push(icon.into());
        self
    }

    /// Adds an entry to the prompt's `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.wire
            .meta
            .get_or_insert_default()
            .0
            .insert(key.into(), value.into());
        self
    }

    /// Sets a completer for an argument, for clients that complete while the user types. See
    /// [`Completer`].
    pub fn complete<X>(mut self, argument: &str, completer: impl Completer<X>) -> Self {
        self.completers.insert(argument, completer);
        self
    }

    /// Restricts the prompt to callers for whom this function returns `true`. For others it does
    /// not exist: it is not listed, and getting it fails as if it were unknown.
    pub fn visible(mut self, to: impl Fn(&Caller) -> bool + Send + Sync + 'static) -> Self {
        self.visible = Some(Box::new(to));
        self
    }

    /// Adds a layer (middleware) around this prompt. Layers of the server run outside of it. See
    /// [`Layer`].
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }
}
