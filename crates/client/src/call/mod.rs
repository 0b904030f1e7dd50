//! The requests of a client: one file for each kind, and their shared parts.
//!
//! [`ClientCall`] is a request before it is sent ([`builder`]); [`exchange`] runs it.

mod any;
mod arguments;
mod begun;
mod builder;
mod completion_complete;
mod exchange;
mod extension;
mod input_completion;
mod input_required;
mod list;
mod logging;
mod only_argument;
mod ping;
mod prompts_get;
mod reader;
mod resources_read;
mod server_discover;
mod start_task;
mod task_handle;
mod tools_call;
mod visit_first;

pub use arguments::Arguments;
pub use builder::ClientCall;
pub(crate) use builder::{ProgressListener, Subject};
pub(crate) use exchange::{SubjectParams, unless_cancelled};
pub use extension::ExtensionHandle;
pub use input_completion::InputCompletion;
pub(crate) use input_required::{Retry, answer};
pub(crate) use list::learn_promises;
#[cfg(feature = "http")]
pub(crate) use list::refetch_tools;
pub use list::{List, ListStream, Listed};
pub(crate) use reader::{AnswerReader, Parsed};
pub use start_task::{StartTask, Started};
pub use task_handle::TaskHandle;
pub(crate) use visit_first::visits_first;
