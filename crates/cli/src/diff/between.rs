//! The changes between two snapshots.

use super::{
    Snapshot,
    change::{Change, Changes},
    offer,
};

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
