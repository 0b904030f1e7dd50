//! What changed for a caller from one server to another: what it has to do otherwise, what it may do
//! now, and what only reads otherwise.

mod change;
mod offer;
mod schema;
mod schema_rule;
mod snapshot;

pub(crate) use change::{Change, Effect};
pub(crate) use snapshot::Snapshot;

use change::Changes;

/// Everything that changed, what breaks callers first.
pub(crate) fn between(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let mut changes = Changes::default();
    offer::server(old, new, &mut changes);
    offer::tools(old, new, &mut changes);
    offer::prompts(old, new, &mut changes);
    offer::resources(old, new, &mut changes);
    offer::templates(old, new, &mut changes);
    changes.sorted()
}
