//! `turnbuckle doctor`: what is wrong with a server, by which rule, and what to do about it.
//!
//! [`examine()`] walks the way of a client, more suspicious and less polite than one: name, port,
//! TLS, process, both eras, what is listed, what is answered to nonsense. Each thing it looks at
//! is a [`check::Check`] of a [`table`], with an id; what came of it is a [`finding::Finding`] in
//! the [`report::Report`]. Nothing here calls a tool, but [`call`], which has to be asked for.

mod authorization;
mod call;
mod cancel;
mod check;
mod conduct;
mod discover;
mod examine;
mod finding;
mod handshake;
mod http;
mod json;
mod lint;
mod listen;
mod methods;
mod network;
mod offer;
#[cfg(test)]
mod page;
mod patience;
mod process;
mod report;
mod sarif;
mod table;
mod talk;
mod text;

pub(crate) use check::Severity;
pub(crate) use examine::{Wanted, examine};
pub(crate) use json::report as to_json;
pub(crate) use patience::Patience;
pub(crate) use report::Report;
pub(crate) use sarif::log as to_sarif;
pub(crate) use text::lines as to_text;
