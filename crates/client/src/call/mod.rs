//! What a client asks of a server: each kind of question, its answer, and what both share.

mod any;
mod begun;
mod builder;
mod by_hand;
mod completion_complete;
mod exchange;
mod extension;
mod gate;
mod input_required;
mod join;
mod list;
mod logging;
mod output_schema;
mod ping;
mod prompts_get;
mod resources_read;
mod server_discover;
mod tool_output;
mod tools_call;
mod traced;
mod visit_first;

pub(crate) use begun::Begun;
pub use builder::Call;
pub(crate) use builder::Listener;
pub(crate) use extension::{extension_call, not_offered};
pub(crate) use input_required::answer_asks;
pub(crate) use join::join_all;
pub use list::{List, ListStream, Listed};
pub(crate) use output_schema::OutputSchemas;
pub use tool_output::ToolOutput;
pub(crate) use tools_call::read_output;
