//! `Tool`, the builder of a tool.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json};
use turnbuckle_protocol::{self as protocol, CallToolResult, Icon, ToolAnnotations};

use super::limits::ToolLimits;
use crate::{
    Caller, Handler, Layer, Leniency,
    handler::{Arguments, Description, Erased, OutputCheck, function},
};

/// A tool: a handler, and its description.
///
/// `#[tool]` makes one from a function; use this to make one without the attribute.
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
    pub(crate) is_restartable: bool,
}

/// The rule that decides which callers see an entry.
pub(crate) type Visible = Box<dyn Fn(&Caller) -> bool + Send + Sync>;

impl Tool {
    /// Creates a tool with this name and handler. The handler is an async function of
    /// [extractors](crate::Extract). The input schema comes from the handler's
    /// [`Args`](crate::Args), and the output schema from [`Json`](crate::Json) if the handler
    /// returns it.
    ///
    /// Mistakes, such as an invalid name, are reported when the server is built.
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
            is_restartable: false,
        }
    }

    /// Sets the description, which models read: what the tool does and when to use it.
    pub fn about(mut self, description: impl Into<String>) -> Self {
        self.wire.description = Some(description.into());
        self
    }

    /// Sets a title, which clients show to people in place of the name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.wire.title = Some(title.into());
        self
    }

    /// Marks the tool as read-only (`readOnlyHint`). By default clients must assume that it changes
    /// something.
    pub fn read_only(self) -> Self {
        self.annotate(|annotations| annotations.read_only_hint = Some(true))
    }

    /// Marks the tool as possibly destructive (`destructiveHint`): it may overwrite or delete
    /// things. Clients may ask the user first. Clients assume this of every tool that is not marked
    /// as read-only or additive.
    pub fn destructive(self) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(true))
    }

    /// Marks the tool as one that changes things, but only adds to them (sets `destructiveHint` to
    /// `false`).
    pub fn additive(self) -> Self {
        self.annotate(|annotations| annotations.destructive_hint = Some(false))
    }

    /// Marks the tool as idempotent: calling it twice with the same arguments has the same effect
    /// as once (`idempotentHint`).
    pub fn idempotent(self) -> Self {
        self.annotate(|annotations| annotations.idempotent_hint = Some(true))
    }

    /// Marks the tool as one that deals with external things, such as the web (`openWorldHint`).
    /// Clients assume this by default.
    pub fn open_world(self) -> Self {
        self.annotate(|annotations| annotations.open_world_hint = Some(true))
    }

    /// Marks the tool as one that deals only with its own things, such as its own memory (sets
    /// `openWorldHint` to `false`).
    pub fn closed_world(self) -> Self {
        self.annotate(|annotations| annotations.open_world_hint = Some(false))
    }

    /// Adds an icon, which clients may show. Call it several times for several sizes.
    pub fn icon(mut self, icon: impl Into<Icon>) -> Self {
        self.wire.icons.get_or_insert_default().push(icon.into());
        self
    }

    /// Adds an entry to the tool's `_meta`, for clients that look for it. Keys should have a
    /// prefix, as in `com.example/team`.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.wire
            .meta
            .get_or_insert_default()
            .0
            .insert(key.into(), value.into());
        self
    }

    /// Sets the input schema by hand. Arguments that the handler takes as [`Args`](crate::Args) are
    /// checked against it before the handler runs; [`RawArgs`](crate::RawArgs) are passed on
    /// unchecked. Building the server fails if the schema is not an object.
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

    /// Sets the output schema by hand. Structured content is checked against it. Handlers that
    /// return [`Json`](crate::Json) have an output schema already.
    pub fn output_schema(mut self, schema: Value) -> Self {
        self.description.output = Some(OutputCheck::new(schema));
        self.description.is_output_declared = true;
        self
    }

    /// Sets how strictly arguments are checked. Defaults to the server's setting, which is lenient
    /// unless [`Server::strict`](crate::Server::strict) was called.
    pub fn leniency(mut self, leniency: Leniency) -> Self {
        self.leniency = Some(leniency);
        self
    }

    /// Accepts only values of the right type: a string is not converted to a number. See
    /// [`Leniency`].
    pub fn strict(self) -> Self {
        self.leniency(Leniency::Strict)
    }

    /// Restricts the tool to callers for whom this function returns `true`. For others it does not
    /// exist: it is not listed, and calling it fails as if it were unknown.
    ///
    /// The server declares the tools capability only to callers that see at least one tool.
    ///
    /// ```
    /// use turnbuckle_server::Tool;
    ///
    /// let tool = Tool::new("demolish", async || "done").visible(|caller| caller.has_scope("admin"));
    /// # drop(tool);
    /// ```
    pub fn visible(mut self, to: impl Fn(&Caller) -> bool + Send + Sync + 'static) -> Self {
        self.visible = Some(Box::new(to));
        self
    }

    /// Lists the tool only to clients that declare the extension with this id, in the handshake or
    /// with the request. Use it for tools that only such clients need, such as those that the page
    /// of an app calls. Other clients can still call it by its name.
    pub fn listed_with(mut self, extension: &'static str) -> Self {
        self.listed_with = Some(extension);
        self
    }

    /// Requires all of these scopes for calling the tool. The tool is listed to all callers, so
    /// that a client can ask for more scopes: over HTTP a call without them is answered with a 403
    /// that names them.
    ///
    /// [`Caller::local`] has every scope.
    ///
    /// ```
    /// use turnbuckle_server::Tool;
    ///
    /// let tool = Tool::new("write", async || "written").scopes(["notes:write"]);
    /// # drop(tool);
    /// ```
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Ends a call that takes longer than this: its future is dropped, and the model reads that the
    /// tool timed out. The time that a user takes to answer a question counts. The time that a call
    /// waits for its [turn](Self::concurrency) and the time in layers do not count.
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

    /// Limits the number of calls of this tool that run at once, in this process and for all
    /// callers together. It is at least 1; by default there is no limit. Further calls wait in
    /// order, and clients may cancel calls that wait.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.limits.concurrency = Some(calls);
        self
    }

    /// Adds the tool disabled: it is not listed and cannot be called until
    /// [`Catalog::enable_tool`](crate::Catalog::enable_tool).
    pub fn disabled(mut self) -> Self {
        self.is_disabled = true;
        self
    }

    /// Adds a layer (middleware) around this tool. Layers of the server run outside of it. The
    /// first one added is the outermost. See [`Layer`].
    pub fn layer(mut self, layer: impl Layer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    fn annotate(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.wire.annotations.get_or_insert_default());
        self
    }
}

/// The schema of a tool without arguments. It includes `properties` because some clients and model
/// providers require it.
pub(crate) fn no_arguments() -> Map<String, Value> {
    match json!({ "type": "object", "properties": {} }) {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
