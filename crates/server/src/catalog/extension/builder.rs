//! `Extension`, the builder of an extension.

use serde::Serialize;
use serde_json::Value;
use turnbuckle_protocol::{ExtensionSpec, JsonObject, method::NotificationMethod};

use super::{ExtensionMethod, Notice};
use crate::{Caller, HandlerSet, IntoPrompt, IntoResource, IntoTool};

/// An extension: capabilities, methods and notifications beyond the core, with the tools, prompts
/// and resources that belong to them.
///
/// Extensions are often separate crates. Pass an extension to
/// [`Server::extension`](crate::Server::extension) to add it to a server. Its methods
/// are async functions of extractors, like tools. Their params and results are the types of a
/// [`Method`](turnbuckle_protocol::method::Method).
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use turnbuckle_protocol::method::Method;
/// use turnbuckle_server::{Extension, ExtensionMethod, Params, Reject, Server};
///
/// #[derive(Serialize, Deserialize)]
/// struct Day { day: String }
///
/// #[derive(Serialize, Deserialize)]
/// struct Weather { celsius: f64 }
///
/// struct AlmanacRead;
///
/// impl Method for AlmanacRead {
///     const NAME: &'static str = "almanac/read";
///     type Params = Day;
///     type Result = Weather;
///     type Outcome = Weather;
/// }
///
/// async fn read(Params(asked): Params<Day>) -> Result<Weather, Reject> {
///     match asked.day.as_str() {
///         "1816-07-04" => Ok(Weather { celsius: 9.0 }),
///         day => Err(Reject::invalid_params(format!("nothing is known of {day}"))),
///     }
/// }
///
/// let almanac = Extension::new("com.example/almanac")
///     .setting("since", 1800)
///     .method(ExtensionMethod::new::<AlmanacRead, _>(read));
/// let server = Server::new("weather", "1.0.0").extension(almanac);
/// ```
///
/// Unless a method is [open](ExtensionMethod::open), only clients that declare the extension may
/// call it; others get an error that names the missing extension. With
/// [`Declared`](crate::Declared) every handler can read the settings that the client declared.
#[must_use = "an extension does nothing until a server is given it"]
pub struct Extension {
    pub(crate) id: String,
    pub(crate) settings: JsonObject,
    pub(crate) methods: Vec<ExtensionMethod>,
    pub(crate) notices: Vec<Notice>,
    pub(crate) handlers: HandlerSet,
    pub(crate) problems: Vec<String>,
}

impl Extension {
    /// Creates an extension with this id: a prefix that belongs to you, `/`, and a name, as in
    /// `com.example/almanac`. Building the server fails if the id is invalid.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            settings: JsonObject::new(),
            methods: Vec::new(),
            notices: Vec::new(),
            handlers: HandlerSet::default(),
            problems: Vec::new(),
        }
    }

    /// Creates the extension that the type `E` defines, declared with these settings. Building the
    /// server fails if the settings are not an object.
    pub fn of<E: ExtensionSpec>(settings: &E::Server) -> Self {
        let extension = Self::new(E::ID);
        match serde_json::to_value(settings) {
            Ok(Value::Object(settings)) => Self {
                settings,
                ..extension
            },
            Ok(other) => extension.problem(format!("its settings must be an object, not {other}")),
            Err(error) => {
                extension.problem(format!("its settings cannot be written as JSON: {error}"))
            }
        }
    }

    /// Adds a setting to the declaration of the extension, which clients read when they connect.
    pub fn setting(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        let name = name.into();
        match serde_json::to_value(value) {
            Ok(value) => {
                self.settings.insert(name, value);
                self
            }
            Err(error) => self.problem(format!(
                "setting `{name}` cannot be written as JSON: {error}"
            )),
        }
    }

    /// Adds a method, which clients can call. Building the server fails if two methods have the
    /// same name.
    pub fn method(mut self, method: ExtensionMethod) -> Self {
        self.methods.push(method);
        self
    }

    /// Calls this function with each notification of this kind that clients send.
    ///
    /// It runs where messages are read, so it must not block; move longer work to a task of your
    /// own. A notification whose params cannot be parsed is ignored, because notifications are not
    /// answered.
    pub fn on<N: NotificationMethod>(
        mut self,
        listener: impl Fn(N::Params, &Caller) + Send + Sync + 'static,
    ) -> Self {
        self.notices.push(Notice::new::<N>(listener));
        self
    }

    /// Adds a tool, which clients see like any other tool of the server.
    pub fn tool<X>(mut self, tool: impl IntoTool<X>) -> Self {
        self.handlers.tool(tool.into_tool());
        self
    }

    /// Adds a prompt, which clients see like any other prompt of the server.
    pub fn prompt<X>(mut self, prompt: impl IntoPrompt<X>) -> Self {
        self.handlers.prompt(prompt.into_prompt());
        self
    }

    /// Adds a resource or a template, which clients see like any other resource of the server.
    pub fn resource<X>(mut self, resource: impl IntoResource<X>) -> Self {
        self.handlers.resource(resource.into_resource());
        self
    }

    /// Reports that the extension is not usable, and why. Building the server then fails with this
    /// message. Use it in crates that make an `Extension` from settings that may be wrong.
    pub fn problem(mut self, problem: impl Into<String>) -> Self {
        self.problems.push(problem.into());
        self
    }
}
