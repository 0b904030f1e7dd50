#![doc = include_str!("docs/crate.md")]

#[cfg(feature = "models")]
pub mod models;

#[cfg(feature = "apps")]
pub use turnbuckle_apps as apps;
#[cfg(feature = "auth")]
pub use turnbuckle_auth as auth;
#[cfg(feature = "client")]
pub use turnbuckle_client as client;
#[cfg(all(feature = "client", feature = "http"))]
pub use turnbuckle_client::HttpTarget;
#[cfg(feature = "client")]
pub use turnbuckle_client::{
    Answers, Cache, CallError, Change, Client, ConnectError, Connection, Listen, Missed, News,
    Pending, Round, Target, ToolOutput,
};
#[cfg(feature = "host")]
pub use turnbuckle_host as host;
pub use turnbuckle_macros::{Choice, Form, handlers, prompt, resource, tool};
pub use turnbuckle_protocol as protocol;
pub use turnbuckle_protocol::{
    Annotations, CallToolResult, ContentBlock, GetPromptResult, Icon, Meta, PromptMessage,
    ReadResourceResult, ResourceContents, ResourceLink, Revision, Role, TraceContext,
};
pub use turnbuckle_schema as schema;
#[cfg(all(feature = "server", feature = "tracing-layer"))]
pub use turnbuckle_server::ClientLog;
#[cfg(all(feature = "server", feature = "http"))]
pub use turnbuckle_server::{
    Admission, Admitted, Allowed, Bearer, Checked, Cors, CorsRules, Headers, Http, HttpBody,
    HttpExtension, HttpRefusal, HttpService, HttpSettings, PeerAddress, Protect,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    Answer, Args, Ask, AskFailed, Asker, Audio, Background, Call, Caller, Cancelled, Catalog,
    CatalogEdit, Completer, Completing, Detach, Extract, Failure, Fault, Handler, Image,
    IntoOutcome, Introduction, Json, Layer, Leniency, LiveServer, MetaOf, Next, Progress, Prompt,
    RawArgs, Reject, Reply, Resource, ServeError, Server, SetupError, State, Stdio, Streams,
    TaskSettings, Tool, ToolError, Transport, Uri, WeakSecret, suggest,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    BadPass, Cached, Changes, Log, Passes, RootFolders, RootsChanged, RootsError,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{CancelHandle, LogRecord, ProgressRecord, Reported, ScriptedAnswers};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    Choice, Filled, Form, FormField, FormSchema, Impossible, Misfit, Question, Visit,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{Declared, Extension, ExtensionMethod, ExtensionReply, Notify, Params};
#[cfg(feature = "server")]
pub use turnbuckle_server::{MessageInlet, MessageOutlet, Paging, ResourcePage};
#[cfg(feature = "skills")]
pub use turnbuckle_skills as skills;
#[cfg(feature = "server")]
pub use turnbuckle_store as store;
pub use turnbuckle_telemetry as telemetry;
pub use turnbuckle_transport as transport;
#[cfg(feature = "client")]
pub use turnbuckle_transport::Command;
pub use turnbuckle_uri_template as uri_template;

/// What most servers and clients need: `use turnbuckle::prelude::*`.
pub mod prelude {
    #[cfg(feature = "client")]
    pub use turnbuckle_client::{Answers, Change, Client, Connection, Listen, Round};
    #[cfg(feature = "server")]
    pub use turnbuckle_server::{
        Answer, Args, Ask, Audio, Cancelled, Changes, Image, Json, Log, Progress, Prompt, Resource,
        Server, State, Stdio, Tool, ToolError,
    };

    #[cfg(feature = "server")]
    pub use turnbuckle_server::{Choice, Form};

    #[cfg(feature = "client")]
    pub use crate::Command;
    pub use crate::{handlers, prompt, resource, tool};
    pub use turnbuckle_macros::{Choice, Form};
}

/// A [`Server`] with the name and version of your crate.
///
/// ```
/// let server = turnbuckle::server!();
/// ```
#[cfg(feature = "server")]
#[macro_export]
macro_rules! server {
    () => {
        $crate::Server::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    };
}

/// What the attributes write refers to these. Not for direct use.
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
    #[cfg(feature = "server")]
    pub use turnbuckle_server::{
        AnyPatterns, DescribePrompt, DescribeResource, DescribeTool, Described, HandlerSet,
        Handlers, Named, NamedArgs, Patterns, PlainPatterns, TypeOf,
    };
    #[cfg(feature = "server")]
    pub use turnbuckle_server::{ChoiceField, ChoiceOption, form_limit, is_outcome};
}

/// The code in the page on extensions compiles.
#[cfg(all(doctest, feature = "server", feature = "client"))]
#[doc = include_str!("../../../docs/extensions.md")]
struct Extensions;

/// The code in the page on catalogs that change compiles.
#[cfg(all(doctest, feature = "server"))]
#[doc = include_str!("../../../docs/catalog.md")]
struct CatalogPage;

/// The code in the page on testing compiles and runs.
#[cfg(all(doctest, feature = "server"))]
#[doc = include_str!("../../../docs/testing.md")]
struct TestingPage;

/// The code in the page on resources compiles.
#[cfg(all(doctest, feature = "server"))]
#[doc = include_str!("../../../docs/resources.md")]
struct ResourcesPage;

/// The code in the page on errors compiles.
#[cfg(all(doctest, feature = "server"))]
#[doc = include_str!("../../../docs/errors.md")]
struct ErrorsPage;

/// The examples of the attributes compile.
#[cfg(all(doctest, feature = "server"))]
mod attributes {
    #[doc = include_str!("../../macros/src/docs/tool.md")]
    struct Tool;

    #[doc = include_str!("../../macros/src/docs/prompt.md")]
    struct Prompt;

    #[doc = include_str!("../../macros/src/docs/resource.md")]
    struct Resource;

    #[doc = include_str!("../../macros/src/docs/handlers.md")]
    struct Handlers;

    #[doc = include_str!("../../macros/src/docs/form.md")]
    struct Form;

    #[doc = include_str!("../../macros/src/docs/choice.md")]
    struct Choice;
}

/// The code in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So does that in the page on servers at a URL.
#[cfg(all(doctest, feature = "client", feature = "http"))]
#[doc = include_str!("../../../docs/http-client.md")]
struct HttpClient;

/// The code in the page on hosts compiles.
#[cfg(all(doctest, feature = "host"))]
#[doc = include_str!("../../../docs/host.md")]
struct HostPage;

/// The code in the page on tasks compiles.
#[cfg(all(doctest, feature = "server", feature = "client"))]
#[doc = include_str!("../../../docs/tasks.md")]
struct Tasks;

/// So does that in the page on what a client does beside calling.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../../../docs/client.md")]
struct ClientPage;
