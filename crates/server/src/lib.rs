//! Typed Model Context Protocol servers: write a handler once, serve every revision.
//!
//! A [`Server`] is given tools, prompts and resources, each a plain async function of extractors,
//! and is then served. Which revision a client speaks is read off each message; handlers never
//! branch on it.
//!
//! Most programs depend on the `turnbuckle` facade, which adds the attributes.

mod answer;
mod arguments;
mod ask;
mod caching;
mod call;
mod caller;
mod cancel;
mod catalog;
mod completion;
mod connection;
mod describe;
mod exchange;
mod extension;
mod extract;
mod failure;
mod handler;
#[cfg(feature = "http")]
mod http;
mod layer;
mod live;
mod log;
mod method;
mod outcome;
mod oversized;
mod pass;
mod peer;
mod prompt;
mod resource;
mod roots;
mod running;
mod serve;
mod server;
mod settings;
mod setup;
mod shared;
mod sink;
mod subscription;
mod task;
pub mod template;
mod tool;
mod trace;

pub use arguments::Leniency;
#[doc(hidden)]
pub use arguments::Patterns;
#[doc(hidden)]
pub use ask::form_limit;
pub use ask::{
    Answer, Ask, AskFailed, Asker, Choice, ChoiceField, ChoiceOption, ChoicesField, Filled, Form,
    FormField, FormSchema, Misfit, NumberField, Question, TextField, Visit, YesNoField,
};
pub use caching::Cached;
pub use call::Call;
pub use caller::Caller;
pub use catalog::Catalog;
pub use completion::{Candidates, Completer, Completing};
pub use describe::{
    DescribePrompt, DescribeResource, DescribeTool, Described, Description, HandlerSet, Handlers,
    IntoPrompt, IntoResource, IntoTool,
};
pub use extension::{Answered, Extension, ExtensionMethod, ExtensionReply};
#[doc(hidden)]
pub use extract::{AnyPatterns, Named, NamedArgs, Plain, PlainPatterns, TypeOf};
pub use extract::{
    Args, Cancelled, Declared, Detach, Extract, Introduction, MetaOf, Notify, Params, Progress,
    RawArgs, State, Step, Uri,
};
pub use failure::{Failure, Fault, Reject, ToolError};
pub use handler::{BoxFuture, Handler};
#[cfg(feature = "http")]
pub use http::{
    Admission, Admitted, Allowed, Cors, Http, HttpBody, HttpService, HttpSettings, Protect, Refusal,
};
pub use layer::{Layer, Next, Reply};
pub use live::LiveServer;
#[cfg(feature = "tracing-layer")]
pub use log::ClientLog;
pub use log::Log;
pub use outcome::{Audio, Image, IntoOutcome, Json};
pub use pass::{BadPass, Passes};
pub use prompt::Prompt;
pub use resource::Resource;
pub use roots::{RootsChanged, RootsError};
pub use serve::{ServeError, Stdio, Streams, Transport};
pub use server::Server;
pub use setup::SetupError;
pub use subscription::Changes;
pub use task::{Background, TaskSettings};
pub use tool::Tool;
