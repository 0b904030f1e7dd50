//! A claim about what a server gave.

use crate::report::Checked;

/// The check fails unless the claim holds.
pub(crate) fn holds(claim: bool, what: &str) -> Checked {
    if claim { Ok(()) } else { Err(what.to_owned()) }
}
