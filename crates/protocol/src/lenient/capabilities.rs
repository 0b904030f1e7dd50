//! Capabilities that are not objects. One that is left out means that the peer cannot do something, so
//! they are read as what they most likely mean.

use serde_json::{Value, json};

use crate::JsonObject;

/// The capabilities, which are objects all.
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

/// Those whose members are objects, too.
const NESTED: [&str; 3] = ["elicitation", "sampling", "tasks"];

/// Reads `true` and an empty array as an empty object, which some languages write like this. Without
/// capabilities a server is read as one that has none. `warn` hears of it: where, the problem, and
/// what came.
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
