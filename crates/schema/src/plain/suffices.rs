//! Whether a schema says anything that serde does not enforce.

use serde_json::{Map, Value};

/// Whether a value that serde reads into the type that this schema was derived from is valid
/// against it without a further look.
///
/// True for the keywords that derived schemas use to describe what serde checks by itself: types,
/// properties, required, enum values, variants. Anything else (ranges, lengths, patterns, closed
/// objects, keywords not known here) makes it false, and values are then validated. The answer
/// means nothing for a schema that was written by hand.
pub fn serde_suffices(schema: &Value) -> bool {
    match schema {
        Value::Bool(_) => true,
        Value::Object(object) => object.iter().all(|(name, value)| suffices(name, value, object)),
        _ => false,
    }
}

fn suffices(name: &str, value: &Value, around: &Map<String, Value>) -> bool {
    match name {
        "title" | "description" | "default" | "examples" | "deprecated" | "type" | "required"
        | "enum" | "const" | "$ref" | "format" | "x-mcp-header" => true,
        "properties" | "$defs" => {
            value.as_object().is_some_and(|members| members.values().all(serde_suffices))
        }
        "items" => serde_suffices(value),
        "additionalProperties" => value != &Value::Bool(false) && serde_suffices(value),
        "anyOf" | "oneOf" => {
            value.as_array().is_some_and(|branches| branches.iter().all(serde_suffices))
        }
        // Unsigned integers, whose sign serde checks.
        "minimum" => {
            value.as_u64() == Some(0) && around.get("type").is_some_and(|kind| kind == "integer")
        }
        _ => false,
    }
}
