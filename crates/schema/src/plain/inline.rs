//! Definitions put in the place of the references to them, where that comes to an end.

use serde_json::{Map, Value};

const PREFIX: &str = "#/$defs/";

/// The same schema with every reference that does not lead back to itself replaced.
pub(super) fn inlined(mut schema: Value) -> Value {
    let definitions = match schema.get_mut("$defs").map(Value::take) {
        Some(Value::Object(definitions)) => definitions,
        _ => return schema,
    };
    if let Value::Object(root) = &mut schema {
        root.shift_remove("$defs");
    }
    let mut kept = Map::new();
    replace(&mut schema, &definitions, &mut Vec::new(), &mut kept);
    if !kept.is_empty()
        && let Value::Object(root) = &mut schema
    {
        root.insert("$defs".into(), Value::Object(kept));
    }
    schema
}

/// `open` are the definitions that the value stands in: a reference to one of them stays.
fn replace(
    value: &mut Value,
    definitions: &Map<String, Value>,
    open: &mut Vec<String>,
    kept: &mut Map<String, Value>,
) {
    match value {
        Value::Array(items) => {
            for item in items {
                replace(item, definitions, open, kept);
            }
        }
        Value::Object(object) => {
            let name = object
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(|path| path.strip_prefix(PREFIX))
                .map(str::to_owned);
            if let Some(name) = name
                && let Some(definition) = definitions.get(&name)
            {
                if open.contains(&name) || is_recursive(&name, definitions) {
                    keep(&name, definitions, open, kept);
                } else {
                    put(object, definition);
                    open.push(name);
                    replace(value, definitions, open, kept);
                    open.pop();
                    return;
                }
            }
            for member in object.values_mut() {
                replace(member, definitions, open, kept);
            }
        }
        _ => {}
    }
}

/// What stands beside a reference (a description, a default) says more than the definition.
fn put(object: &mut Map<String, Value>, definition: &Value) {
    object.shift_remove("$ref");
    if let Value::Object(definition) = definition {
        for (name, value) in definition {
            if !object.contains_key(name) {
                object.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A definition that leads back to itself stays one, with what it needs inlined.
fn keep(
    name: &str,
    definitions: &Map<String, Value>,
    open: &mut Vec<String>,
    kept: &mut Map<String, Value>,
) {
    if kept.contains_key(name) {
        return;
    }
    kept.insert(name.to_owned(), Value::Null);
    let mut definition = definitions[name].clone();
    open.push(name.to_owned());
    replace(&mut definition, definitions, open, kept);
    open.pop();
    kept.insert(name.to_owned(), definition);
}

fn is_recursive(name: &str, definitions: &Map<String, Value>) -> bool {
    let mut seen = Vec::new();
    let mut waiting = vec![&definitions[name]];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(object) => {
                let reference = object.get("$ref").and_then(Value::as_str);
                if let Some(other) = reference.and_then(|path| path.strip_prefix(PREFIX)) {
                    if other == name {
                        return true;
                    }
                    if !seen.contains(&other) {
                        seen.push(other);
                        waiting.extend(definitions.get(other));
                    }
                }
                waiting.extend(object.values());
            }
            _ => {}
        }
    }
    false
}
