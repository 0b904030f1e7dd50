//! Results, as a person reads them on a terminal.

mod content;
mod control;
mod media;
mod print;
mod progress;
mod table;

pub(crate) use content::{block, contents, tool_result};
pub(crate) use control::{for_stderr, for_stdout, tell};
pub(crate) use media::Media;
pub(crate) use print::{print, print_json, print_shown};
pub(crate) use progress::ProgressLine;
pub(crate) use table::Table;
