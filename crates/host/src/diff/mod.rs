//! What changed for a caller from one server to another, or from one day to another: what it has to do
//! otherwise, what it may do now, and what only reads otherwise.

mod between;
mod change;
mod offer;
mod schema;
mod schema_rule;
mod snapshot;

pub use between::{between, between_prompts, between_tools};
pub use change::{Change, Effect};
pub use snapshot::Snapshot;
