//! Tools: what a model can call.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use turnbuckle_protocol::{self as protocol, CallToolResult, Icon, ToolAnnotations};

use super::limits::ToolLimits;
use crate::{
    Caller, Handler, Layer, Leniency,
    handler::{Arguments, Description, Erased, OutputCheck, function},
};

/// A tool: a handler, and what is said of it.
///
/// `#[tool]` makes one from a function; this is the way without it.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use turnbuckle_server::{Args, Server, Tool};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Whom to greet.
///     name: String,
/// }
///
/// async fn greet(Args(greeting): Args<Greeting>) -> String {
///     format!("Hello, {}!", greeting.name)
/// }
///
/// let server = Server::new("greeter", "1.0.0")
///     .tool(Tool::new("greet", greet).about("Greets a person.").read_only());
/// ```
pub struct Tool {
    pub(crate) wire: protocol::Tool,
    pub(crate) handler: Erased<CallToolResult>,
    pub(crate) description: Description,
    pub(crate) leniency: Option<Leniency>,
    pub(crate) visible: Option<Visible>,
    pub(crate) listed_with: Option<&'static str>,
    pub(crate) scopes: Vec<String>,
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) limits: ToolLimits,
    pub(crate) is_disabled: bool,
}

/// Who may see and use something.
pub(crate) type Visible = Box<dyn Fn(&Caller) -> bool + Send + Sync>;

impl Tool {
    /// A tool with this name, served by this handler.
    pub fn new<X, H: Handler<X, CallToolResult>>(name: impl Into<String>, handler: H) -> Self {
        let (handler, description) = function::erase(handler);
        Self {
            wire: protocol::Tool::new(name, Map::new()),
            handler,
            description,
            leniency: None,
            visible: None,
            listed_with: None,
            scopes: Vec::new(),
            layers: Vec::new(),
            limits: ToolLimits::default(),
            is_disabled: false,
        }
    }

    /// Says what the tool does.
    pub fn about(mut self, description: impl Into<String>) -> Self {
        self.wire.description = Some(description.into());
        self
    }

    /// A title for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.wire.title = Some(title.into());
        self
    }

    /// The tool changes nothing.
    pub fn read_only(self) -> Self {
        self.annotate(|annotations| annotations.read_only_hint = Some(true))
    }

    /// The tool may destroy something.
    pub fn destructive(self) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(true))
    }

    /// The tool changes things, but only adds to them.
    pub fn additive(self) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(false))
    }

    /// Calling the tool twice with the same arguments is as good as once.
    pub fn idempotent(self) -> Self {
        self.annotate(|annotations| annotations.idempotent_hint = Some(true))
    }

    /// The tool deals with an open world of things, such as the web.
    pub fn open_world(self) -> Self {
        self.annotate(|annotations| annotations.open_world_hint = Some(true))
    }

    /// The tool deals with a closed world of things, such as its own memory.
    pub fn closed_world(self) -> Self {
        self.annotate(|annotations| annotations.open_world_hint = Some(false))
    }

    /// Adds an icon.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.wire.icons.get_or_insert_default().push(icon.into());
        self
    }

    /// Adds an entry to the tool's `_meta`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.wire
            .meta
            .get_or_insert_default()
            .0
            .insert(key.into(), value.into());
        self
    }

    /// Sets the input schema by hand. Arguments that the handler takes as [`Args`](crate::Args) are
    /// checked against it before it runs; [`RawArgs`](crate::RawArgs) are passed on unchecked.
    pub fn input_schema(mut self, schema: Value) -> Self {
        match schema {
            Value::Object(schema) => {
                self.description.arguments = Some(Arguments::declared(schema));
            }
            other => self
                .description
                .problem(format!("an input schema is an object, not {other}")),
        }
        self
    }

    /// Sets the output schema by hand; structured content is checked against it.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.description.output = Some(OutputCheck::new(schema));
        self.description.is_output_declared = true;
        self
    }

    /// Says what models may get wrong without being told; the server's setting otherwise.
    pub fn leniency(mut self, leniency: Leniency) -> Self {
        self.leniency = Some(leniency);
        self
    }

    /// Takes every value only in its own type: no coercion.
    pub fn strict(self) -> Self {
        self.leniency(Leniency::Strict)
    }

    /// Only callers for whom this holds see the tool; to others it does not exist.
    ///
    /// A caller that sees no tool at all is not told that the server has any: capabilities and
    /// methods are those of what this caller sees.
    pub fn visible(mut self, to: impl Fn(&Caller) -> bool + Send + Sync + 'static) -> Self {
        self.visible = Some(Box::new(to));
        self
    }

    /// Lists the tool only to clients that declare the extension with this id, in the handshake or
    /// with the request. It is for tools that mean something to those alone, such as what a page
    /// of an app calls; a client that knows its name may call it all the same.
    pub fn listed_with(mut self, extension: &'static str) -> Self {
        self.listed_with = Some(extension);
        self
    }

    /// Only callers with all of these scopes may call the tool. It is listed all the same, so that a
    /// client can ask for more: over HTTP it is told so by a 403 that names the scopes.
    ///
    /// [`Caller::local`] has every scope.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Stops a call that takes longer than this: its future is dropped, and the model reads that the
    /// tool took too long. The time that a user takes to answer a question counts; the time that a
    /// call waits for its [turn](Self::concurrency) and the layers do not.
    ///
    /// ```
    /// use std::time::Duration;
    /// use turnbuckle_server::Tool;
    ///
    /// let tool = Tool::new("search", async || "found").timeout(Duration::from_secs(30)).concurrency(4);
    /// ```
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limits.timeout = Some(limit);
        self
    }

    /// Lets at most so many calls of this tool run at once, on this process and for all callers
    /// together; at least one. Others wait for their turn, first come, first served.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.limits.concurrency = Some(calls);
        self
    }

    /// Adds the tool switched off: it is not listed and cannot be called before
    /// [`Catalog::enable_tool`](crate::Catalog::enable_tool).
    pub fn disabled(mut self) -> Self {
        self.is_disabled = true;
        self
    }

    /// Puts a layer around this tool, inside those of the server.
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    fn annotate(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.wire.annotations.get_or_insert_default());
        self
    }
}

/// The schema of a tool without arguments. `properties` is there because some clients and model
/// providers insist on it.
pub(crate) fn no_arguments() -> Map<String, Value> {
    match json!({ "type": "object", "properties": {} }) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
