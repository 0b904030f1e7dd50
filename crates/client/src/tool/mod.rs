//! The tools of a server: facts from their list, and their results.

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
