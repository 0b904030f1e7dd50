//! The types of the Model Context Protocol: the JSON-RPC envelope, every type of all five revisions,
//! and the differences between them.
//!
//! This crate uses no sockets, no clocks and no async runtime. Types contain the members of all
//! revisions, in the form of the newest; [`revision`] lowers a value to what an older peer supports.

pub mod annotations;
pub mod cache;
pub mod cancel;
pub mod capability;
pub mod completion;
pub mod content;
pub mod discover;
pub mod elicit;
pub mod empty;
pub mod envelope;
pub mod error;
pub mod extension;
pub mod grammar;
pub mod http;
pub mod icon;
pub mod implementation;
pub mod importance;
pub mod initialize;
pub mod input;
mod json;
pub mod json_problem;
pub mod lenient;
#[cfg(test)]
mod lenient_tests;
pub mod logging;
pub mod meta;
pub mod method;
mod negotiation;
pub mod other_content;
pub mod other_members;
pub mod outcome;
pub mod page;
pub mod progress;
pub mod prompt;
pub mod resource;
pub mod resource_messages;
pub mod revision;
pub mod role;
pub mod root;
pub mod sampling;
mod setter;
pub mod subscription;
mod tagged;
pub mod task;
mod task_metadata;
#[cfg(test)]
mod tests;
pub mod tool;
pub mod tool_call;
pub mod trace;
mod word;

pub use annotations::Annotations;
pub use cache::{CacheHint, CacheScope, Cacheable};
pub use cancel::CancelledNotificationParams;
pub use capability::*;
pub use completion::*;
pub use content::*;
pub use discover::DiscoverResult;
pub use elicit::*;
pub use empty::{EmptyResult, NotificationParams, RequestParams};
pub use envelope::{Id, IdRef};
pub use error::{
    ErrorObject, MissingRequiredClientCapability, UnsupportedProtocolVersion,
    UrlElicitationRequired,
};
pub use extension::{BadExtensionId, ExtensionSpec};
pub use icon::{Icon, IconTheme};
pub use implementation::Implementation;
pub use importance::{Annotated, Named};
pub use initialize::{InitializeRequestParams, InitializeResult};
pub use input::{InputRequest, InputRequests, InputRequiredResult, InputResponse, InputResponses};
pub use json::JsonObject;
pub use lenient::ReadWarning;
pub use logging::{LoggingLevel, LoggingMessageNotificationParams, SetLevelRequestParams};
pub use meta::Meta;
pub use other_content::OtherContent;
pub use other_members::OtherMembers;
pub use outcome::{CallToolOutcome, Complete, Outcome, ResultType};
pub use page::{Cursor, PaginatedRequestParams};
pub use progress::{ProgressNotificationParams, ProgressToken};
pub use prompt::*;
pub use resource::*;
pub use resource_messages::*;
pub use revision::{Lower, Revision, UnknownRevision};
pub use role::Role;
pub use root::{ListRootsResult, Root};
pub use sampling::*;
pub use subscription::*;
pub use task::*;
pub use tool::{ListToolsResult, TaskSupport, Tool, ToolAnnotations, ToolExecution};
pub use tool_call::{CallToolRequestParams, CallToolResult};
pub use trace::{TraceContext, TraceParent};
