//! What tools return, and whether that is what they promise.

mod output_schemas;
mod tool_output;

pub(crate) use output_schemas::OutputSchemas;
pub use tool_output::ToolOutput;
