#![doc = include_str!("docs/crate.md")]

#[cfg(doctest)]
mod book;
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
    Answers, Cache, CallError, Change, Client, ConnectError, Connection, Listen, Missed, Pending,
    Round, ServerNotification, Target, ToolOutput,
};
#[cfg(feature = "gateway")]
pub use turnbuckle_gateway as gateway;
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
    AddressSource, AllowList, AuthDecision, Authorized, Bearer, Cors, CorsRules, ExtraRoutes,
    Headers, Http, HttpBody, HttpExtension, HttpRefusal, HttpService, HttpSettings,
    IntoTokenResult, PeerAddress, Protect, TextResponse, stop_signal,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    Answer, Args, AskFailed, Asker, Audio, Background, Call, CallMeta, Caller, Cancelled, Catalog,
    CatalogEdit, ClientInfo, Completer, CompletionContext, Detach, Extract, Failure, Fault,
    Handler, Image, IntoOutcome, IntoPrompt, IntoResource, IntoTool, Json, Layer, Leniency,
    LiveServer, Next, Progress, Prompt, RawArgs, Reject, Reply, Resource, ServeError, Server,
    SetupError, State, Stdio, Streams, TaskSettings, Tool, ToolError, Transport, Uri, WeakSecret,
    suggest,
};
#[cfg(feature = "ask")]
pub use turnbuckle_server::{Ask, LinkTokens};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    Cached, Changes, LinkTokenError, Log, RootFolders, RootsChanged, RootsError,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    CancelHandle, LogRecord, ProgressRecord, ProgressReport, ScriptedAnswers,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{
    Choice, FieldError, Form, FormField, FormSchema, FormValues, Impossible, Question, Visit,
};
#[cfg(feature = "server")]
pub use turnbuckle_server::{Declared, Extension, ExtensionMethod, ExtensionReply, Notify, Params};
#[cfg(feature = "server")]
pub use turnbuckle_server::{ListenerLimits, MemoryBudget, MemoryUsage, Rates};
#[cfg(feature = "server")]
pub use turnbuckle_server::{MessageInlet, MessageOutlet, Paging, Ping, PingError, ResourcePage};
#[cfg(feature = "skills")]
pub use turnbuckle_skills as skills;
#[cfg(feature = "server")]
pub use turnbuckle_store as store;
pub use turnbuckle_telemetry as telemetry;
pub use turnbuckle_transport as transport;
#[cfg(feature = "client")]
pub use turnbuckle_transport::Command;
pub use turnbuckle_uri_template as uri_template;

/// The items that most servers and clients need: `use turnbuckle::prelude::*`.
pub mod prelude {
    #[cfg(feature = "client")]
    pub use turnbuckle_client::{Answers, Change, Client, Connection, Listen, Round};
    #[cfg(feature = "server")]
    pub use turnbuckle_server::{
        Answer, Args, Audio, Cancelled, Changes, Image, Json, Log, Progress, Prompt, Resource,
        Server, State, Stdio, Tool, ToolError,
    };

    #[cfg(feature = "ask")]
    pub use turnbuckle_server::Ask;
    #[cfg(feature = "server")]
    pub use turnbuckle_server::{Choice, Form};

    #[cfg(feature = "client")]
    pub use crate::Command;
    pub use crate::{handlers, prompt, resource, tool};
    pub use turnbuckle_macros::{Choice, Form};
}

/// A [`Server`] with the name, the version and the description of your crate, which are in its
/// `Cargo.toml`. [`Server::about`] sets another description.
///
/// ```
/// let server = turnbuckle::server!();
/// assert_eq!(server.implementation().name, env!("CARGO_PKG_NAME"));
/// ```
#[cfg(feature = "server")]
#[macro_export]
macro_rules! server {
    () => {
        $crate::__private::server_of_crate(
            env!("CARGO_PKG_NAME"),
            env!("CARGO_PKG_VERSION"),
            // Other build systems than Cargo may not set it.
            option_env!("CARGO_PKG_DESCRIPTION"),
        )
    };
}

/// Items for the code that the attributes generate. Not for direct use.
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

    /// The implementation of [`server!`](crate::server).
    #[cfg(feature = "server")]
    pub fn server_of_crate(name: &str, version: &str, description: Option<&str>) -> crate::Server {
        let server = crate::Server::new(name, version);
        match description {
            None | Some("") => server,
            Some(description) => server.about(description),
        }
    }
}
