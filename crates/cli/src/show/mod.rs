//! Results, as a person reads them on a terminal.

mod content;
mod style;
mod table;

pub(crate) use content::{block, contents, tool_result};
pub(crate) use style::{Colour, Style, bytes, choose, elapsed};
pub(crate) use table::Table;
