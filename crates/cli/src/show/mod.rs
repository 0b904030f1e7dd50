//! Results as people read them at a terminal.

mod content;
mod media;
mod print;
mod progress;
mod rows;
mod table;
mod tool;

pub(crate) use turnbuckle_command_line::control::{for_stdout, tell};

pub(crate) use content::{block, contents, tool_result};
pub(crate) use media::Media;
pub(crate) use print::{all_printed, has_printed, help_printed, print, print_json, print_shown};
pub(crate) use progress::ProgressLine;
pub(crate) use rows::{cut, rows, wrapped};
pub(crate) use table::Table;
pub(crate) use tool::{object_example, tool};
