//! What changed for a caller from one server to another: what it has to do otherwise, what it may do
//! now, and what only reads otherwise.

mod between;
mod change;
mod offer;
mod schema;
mod schema_rule;
mod snapshot;

pub(crate) use between::between;
pub(crate) use change::{Change, Effect};
pub(crate) use snapshot::Snapshot;
