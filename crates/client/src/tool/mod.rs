//! The tools of a server: what their list says, and what they return.

#[cfg(feature = "http")]
mod http_notes;
mod listed_tools;
mod output_schema;
mod tool_output;

#[cfg(feature = "http")]
pub use http_notes::ExcludedTool;
#[cfg(feature = "http")]
use http_notes::HttpNotes;
pub(crate) use listed_tools::ListedTools;
pub use tool_output::ToolOutput;
