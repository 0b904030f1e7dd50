//! Results, as a person reads them on a terminal.

mod content;
mod control;
mod media;
mod progress;
mod style;
mod table;

pub(crate) use content::{block, contents, tool_result};
pub(crate) use control::{for_stderr, for_stdout, tell};
pub(crate) use media::Media;
pub(crate) use progress::ProgressLine;
pub(crate) use style::{Colour, Style, bytes, choose, elapsed};
pub(crate) use table::Table;
