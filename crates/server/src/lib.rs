//! Typed Model Context Protocol servers: write a handler once, serve every revision.
//!
//! Add tools, prompts and resources to a [`Server`], then serve it. Each of them is a plain async
//! function whose parameters are extractors. The server reads the client's revision from its
//! messages, so handlers need no code for single revisions.
//!
//! Most programs depend on the `turnbuckle` facade, which adds the attributes.

mod catalog;
mod client;
mod edge;
mod engine;
mod failure;
mod handler;
mod quota;
mod relay;
#[cfg(feature = "http")]
mod replica;
mod server;
mod subscription;

pub use catalog::{
    Cached, Candidates, Catalog, CatalogEdit, Completed, Completer, CompletionContext,
    DescribePrompt, DescribeResource, DescribeTool, Described, Extension, ExtensionMethod,
    HandlerSet, Handlers, IntoPrompt, IntoResource, IntoTool, Paging, Prompt, Resource,
    ResourcePage, SetupError, Tool, suggest,
};
pub use client::{Caller, ClientInfo, RootFolders, RootsChanged, RootsError};
#[cfg(feature = "http")]
pub use edge::http::{
    AddressSource, AllowList, AuthDecision, Authorized, Bearer, Cors, CorsRules, ExtraRoutes,
    HttpBody, HttpRefusal, HttpService, HttpSettings, IntoTokenResult, Protect, TextResponse,
};
pub use engine::{MemoryBudget, MemoryUsage, Rates, TaskSettings};
pub use failure::{AskFailed, Failure, Fault, FieldError, Reject, ToolError};
pub use futures_core::future::BoxFuture;
#[cfg(feature = "tracing-layer")]
pub use handler::ClientLog;
pub use handler::{
    Answer, Answered, Args, Asker, Audio, Background, BooleanField, Call, CallMeta, CancelHandle,
    Cancelled, Choice, ChoiceField, ChoiceOption, ChoicesField, Declared, Description, Detach,
    ExtensionReply, Extract, Form, FormField, FormSchema, FormValues, Handler, Image, IntoOutcome,
    Json, Layer, Leniency, LinkTokenError, Log, LogRecord, Next, Notify, NumberField, Params, Ping,
    PingError, Progress, ProgressRecord, ProgressReport, Question, RawArgs, Reply, ScriptedAnswers,
    State, Step, TextField, Uri, Visit,
};
#[doc(hidden)]
pub use handler::{
    AnyPatterns, Named, NamedArgs, Patterns, Plain, PlainPatterns, TypeOf, Unsendable, form_limit,
    is_outcome,
};
#[cfg(feature = "ask")]
pub use handler::{Ask, LinkTokens};
#[cfg(feature = "http")]
pub use handler::{Headers, HttpExtension, PeerAddress};
#[cfg(feature = "http")]
pub use relay::ReplicaLink;
pub use relay::{
    ClientChannel, OwnedRelayedRequest, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks,
    RelayedRequest,
};
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub use replica::fuzzing;
#[cfg(feature = "http")]
pub use server::{Http, stop_signal};
pub use server::{
    LiveServer, MessageInlet, MessageOutlet, ServeError, Server, Stdio, Streams, Transport,
};
pub use subscription::{Changes, ListenerLimits, UpdateNotice};
pub use turnbuckle_session::round::{Impossible, seal::WeakSecret};
pub use turnbuckle_transport::KeepAlive;

/// Items that need the feature `ask`. Without it `requestState` is not encrypted, so they must not
/// be used.
#[cfg(not(feature = "ask"))]
#[doc(hidden)]
pub mod unavailable {
    pub use crate::handler::{Ask, LinkTokens};
}
