//! One file for each command.

pub(crate) mod serve;

use std::{error::Error, fmt::Write as _};

/// An error and its causes, for a person: one line each.
pub(crate) fn report(error: &(dyn Error + 'static)) -> String {
    let mut text = format!("error: {error}\n");
    let mut source = error.source();
    while let Some(cause) = source {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  because: {cause}");
        source = cause.source();
    }
    text
}
