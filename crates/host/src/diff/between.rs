//! The changes between two snapshots.

use serde_json::Value;

use super::{
    Snapshot,
    change::{Change, Changes, Of},
    offer,
};

/// Compares two snapshots of a server: its capabilities and revisions, tools, prompts, resources
/// and templates. Returns all changes, breaking ones first; the list is empty if nothing changed.
/// Parts that are unknown in one of the snapshots are not compared.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_host::diff::{Effect, Snapshot, between};
///
/// let tools = |tools| json!({ "tools": tools });
/// let old = tools(json!([{ "name": "add", "inputSchema": { "type": "object" } }]));
/// let new = tools(json!([]));
/// let changes = between(
///     &Snapshot::recorded([("tools/list", &old)]),
///     &Snapshot::recorded([("tools/list", &new)]),
/// );
/// assert_eq!(changes[0].effect, Effect::Breaking);
/// assert_eq!(changes[0].name, "add");
/// ```
pub fn between(old: &Snapshot, new: &Snapshot) -> Vec<Change> {
    let mut changes = Changes::default();
    offer::server(old, new, &mut changes);
    offer::tools(old, new, &mut changes);
    offer::prompts(old, new, &mut changes);
    offer::resources(old, new, &mut changes);
    offer::templates(old, new, &mut changes);
    changes.sorted()
}

/// Compares two definitions of one tool: its arguments, output, annotations and texts. The
/// definitions are the JSON objects of `tools/list`. Returns the changes, breaking ones first.
pub fn between_tools(name: &str, old: &Value, new: &Value) -> Vec<Change> {
    one("tool", name, |of| offer::tool(old, new, of))
}

/// Compares two definitions of one prompt. The definitions are the JSON objects of `prompts/list`.
/// Returns the changes, breaking ones first.
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
