//! An approved definition with its digest.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// An approved tool, prompt or text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pin {
    pub(super) digest: String,
    /// The approved definition, to show what changed.
    pub(super) definition: Value,
}

impl Pin {
    pub(super) fn new(definition: &Value) -> Self {
        Self {
            digest: digest(definition),
            definition: definition.clone(),
        }
    }

    /// Whether a definition is the approved one. Only the digest is compared: editing the
    /// definition in the file by hand does not approve anything else.
    pub(super) fn is_of(&self, definition: &Value) -> bool {
        self.digest == digest(definition)
    }
}

/// The SHA-256 digest of a value. It does not depend on the order of members, because some servers
/// write them in another order with each start.
fn digest(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value);
    let mut shown = "sha256:".to_owned();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(shown, "{byte:02x}");
    }
    shown
}

/// Writes a value with its members in the order of their names.
fn write(out: &mut String, value: &Value) {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}:", Value::from(name.as_str()));
                write(out, value);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(out, item);
            }
            out.push(']');
        }
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_order_of_members_is_free() {
        let pin = Pin::new(&json!({ "a": [1, { "x": "y", "z": null }], "b": true }));
        assert!(pin.is_of(&json!({ "b": true, "a": [1, { "z": null, "x": "y" }] })));
        for other in [
            json!({ "b": true, "a": [{ "z": null, "x": "y" }, 1] }),
            json!({ "b": true, "a": [1, { "z": null, "x": "y " }] }),
            json!({ "b": true, "a": [1, { "x": "y" }] }),
        ] {
            assert!(!pin.is_of(&other), "{other}");
        }
    }
}
