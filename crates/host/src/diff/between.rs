//! The changes between two snapshots.

use serde_json::Value;

use super::{
    Snapshot,
    change::{Change, Changes, Of},
    offer,
};

/// Everything that changed, what breaks callers first.
pub fn between(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let mut changes = Changes::default();
    offer::server(old, new, &mut changes);
    offer::tools(old, new, &mut changes);
    offer::prompts(old, new, &mut changes);
    offer::resources(old, new, &mut changes);
    offer::templates(old, new, &mut changes);
    changes.sorted()
}

/// What changed in one tool, from one definition to another.
pub fn between_tools(name: &str, old: &Value, new: &Value) -> Vec<Change> {
    one("tool", name, |of| offer::tool(old, new, of))
}

/// What changed in one prompt, from one definition to another.
pub fn between_prompts(name: &str, old: &Value, new: &Value) -> Vec<Change> {
    one("prompt", name, |of| offer::prompt(old, new, of))
}

fn one(kind: &'static str, name: &str, compare: impl FnOnce(&mut Of<'_>)) -> Vec<Change> {
    let mut changes = Changes::default();
    compare(&mut Of {
        changes: &mut changes,
        kind,
        name,
    });
    changes.sorted()
}
