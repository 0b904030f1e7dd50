//! Capabilities that are not objects. Leaving out a capability would mean that the peer does not
//! support it, so they are read with their most likely meaning.

use serde_json::{Value, json};

use crate::JsonObject;

/// The names of all capabilities. Their values are objects.
const OBJECTS: [&str; 11] = [
    "completions",
    "elicitation",
    "experimental",
    "extensions",
    "logging",
    "prompts",
    "resources",
    "roots",
    "sampling",
    "tasks",
    "tools",
];

/// The capabilities whose members are also objects.
const NESTED: [&str; 3] = ["elicitation", "sampling", "tasks"];

/// Reads `true` and an empty array as an empty object, which some languages write like this. If a
/// server sends no capabilities, they are read as empty. `warn` gets the position, the problem, and the
/// original value.
pub(super) fn mend(message: &mut JsonObject, mut warn: impl FnMut(String, &str, Value)) {
    let is_of_client = message.contains_key("clientInfo");
    match message.get_mut("capabilities") {
        Some(Value::Object(declared)) => {
            for (name, value) in declared {
                if OBJECTS.contains(&&**name) {
                    mend_value(value, &format!("/capabilities/{name}"), &mut warn);
                    if NESTED.contains(&&**name) {
                        mend_members(value, &format!("/capabilities/{name}"), &mut warn);
                    }
                }
            }
            return;
        }
        None if is_of_client => return,
        _ => {}
    }
    let came = message.insert("capabilities".to_owned(), json!({}));
    let problem = match &came {
        None | Some(Value::Null) => "`capabilities` is missing; read as empty",
        Some(_) => "`capabilities` is not an object; read as empty",
    };
    warn(
        "/capabilities".to_owned(),
        problem,
        came.unwrap_or_default(),
    );
}

fn mend_value(value: &mut Value, place: &str, warn: &mut impl FnMut(String, &str, Value)) {
    let problem = match value {
        Value::Bool(true) => "it is `true`; read as an empty object",
        Value::Array(elements) if elements.is_empty() => "it is an array; read as an empty object",
        _ => return,
    };
    let came = std::mem::replace(value, json!({}));
    warn(place.to_owned(), problem, came);
}

fn mend_members(value: &mut Value, place: &str, warn: &mut impl FnMut(String, &str, Value)) {
    for (name, value) in value.as_object_mut().into_iter().flatten() {
        let place = format!("{place}/{}", super::escaped(name));
        mend_value(value, &place, warn);
        mend_members(value, &place, warn);
    }
}
