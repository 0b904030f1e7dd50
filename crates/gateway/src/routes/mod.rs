//! The merged lists of all servers, and the server of each entry.
//!
//! Entries stay as their servers wrote them; only names are edited. Names are looked up in a map
//! and never split.

mod merge;
mod names;
mod offered_tool;
mod table;

pub(crate) use names::name_beside;
pub(crate) use table::Routes;
pub(crate) use turnbuckle_protocol::method::ListKind as Kind;
