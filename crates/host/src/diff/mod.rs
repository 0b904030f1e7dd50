//! Compares two servers, or one server at two times, from the point of view of a caller: which
//! changes break callers, which are compatible, and which affect only texts.

mod between;
mod change;
mod offer;
mod schema;
mod schema_rule;
mod snapshot;

pub use between::{between, between_prompts, between_tools};
pub use change::{Change, Effect};
pub use snapshot::Snapshot;
