//! Data on stdout.

use std::io::Write as _;

use serde::Serialize;
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

use super::for_stdout;

/// Prints data as JSON: one line for programs.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    let json = serde_json::to_string(value).map_err(|error| Failed::new(Code::Protocol, error))?;
    print(&json);
    Ok(())
}

/// Prints a line of data; at a terminal, it commands nothing.
pub(crate) fn print(line: &str) {
    print_shown(&for_stdout(line));
}

/// Prints what was made for showing, which may be a picture. A reader that has gone away has seen
/// enough.
pub(crate) fn print_shown(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
}
