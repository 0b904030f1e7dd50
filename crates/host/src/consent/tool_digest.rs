//! The digest of a tool's definition. A grant is for the tool as the user saw it: if a server
//! changes the description, arguments or hints of a tool, the user is asked again.

use std::fmt::Write as _;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use turnbuckle_protocol::Tool;

/// Bytes of a digest in the file of grants.
const LENGTH: usize = 16;

/// The digest of the parts of a tool that a user is shown. It does not depend on the order of
/// members, because some servers write them in another order with each start.
pub(super) fn digest(tool: &Tool) -> String {
    let mut digest = Sha256::new();
    let description = tool.description.as_deref().unwrap_or_default();
    add_text(&mut digest, description);
    add_members(&mut digest, tool.input_schema.iter());
    let hints = serde_json::to_value(&tool.annotations).unwrap_or_default();
    add(&mut digest, &hints);
    let mut text = String::with_capacity(2 * LENGTH);
    for byte in &digest.finalize()[..LENGTH] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn add(digest: &mut Sha256, value: &Value) {
    match value {
        Value::Object(members) => add_members(digest, members.iter()),
        Value::Array(items) => {
            digest.update(b"[");
            digest.update(items.len().to_le_bytes());
            for item in items {
                add(digest, item);
            }
        }
        Value::String(text) => add_text(digest, text),
        other => {
            digest.update(b"=");
            add_text(digest, &other.to_string());
        }
    }
}

fn add_members<'v>(digest: &mut Sha256, members: impl Iterator<Item = (&'v String, &'v Value)>) {
    let mut members: Vec<_> = members.collect();
    members.sort_by_key(|(name, _)| *name);
    digest.update(b"{");
    digest.update(members.len().to_le_bytes());
    for (name, value) in members {
        add_text(digest, name);
        add(digest, value);
    }
}

/// Adds a text with its length, so that two texts cannot be confused with one.
fn add_text(digest: &mut Sha256, text: &str) {
    digest.update(b"\"");
    digest.update(text.len().to_le_bytes());
    digest.update(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tool: &str) -> String {
        digest(&serde_json::from_str(tool).unwrap())
    }

    #[test]
    fn only_what_a_person_is_shown_changes_it() {
        let tool = r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1}}"#;
        for same in [
            r#"{"inputSchema":{"x":1,"type":"object"},"description":"d","name":"a"}"#,
            r#"{"name":"a","title":"A","description":"d","inputSchema":{"type":"object","x":1}}"#,
        ] {
            assert_eq!(of(tool), of(same), "{same}");
        }
        for other in [
            r#"{"name":"a","description":"e","inputSchema":{"type":"object","x":1}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":2}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":"1"}}"#,
            r#"{"name":"a","description":"d","inputSchema":{"type":"object","x":1},
                "annotations":{"readOnlyHint":true}}"#,
        ] {
            assert_ne!(of(tool), of(other), "{other}");
        }
    }
}
