//! The part of a schema that a path leads to.

use serde_json::Value;

/// How many references are followed before one that leads in a circle is given up.
const MAX_STEPS: usize = 64;

/// Every schema that may apply at a path: combinations and references are looked through.
pub(super) fn schemas_at<'a>(root: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    let mut here = alternatives(root, root);
    for name in path {
        let next: Vec<&Value> = here
            .into_iter()
            .filter_map(|schema| children(schema, name))
            .collect();
        here = next
            .into_iter()
            .flat_map(|schema| alternatives(root, schema))
            .collect();
    }
    here
}

/// Every schema of the items of the lists at a path.
pub(super) fn items_at<'a>(root: &'a Value, path: &[&str]) -> Vec<&'a Value> {
    schemas_at(root, path)
        .into_iter()
        .filter_map(|schema| schema.get("items"))
        .flat_map(|schema| alternatives(root, schema))
        .collect()
}

fn children<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let named = schema
        .get("properties")
        .and_then(|properties| properties.get(name));
    let additional = || {
        schema
            .get("additionalProperties")
            .filter(|rule| rule.is_object())
    };
    let item = || {
        let is_index = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        is_index.then(|| schema.get("items")).flatten()
    };
    named.or_else(additional).or_else(item)
}

/// A schema, and those that it is made of.
fn alternatives<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut found: Vec<&'a Value> = Vec::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        if found.len() >= MAX_STEPS || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let parts = schema.get(keyword).and_then(Value::as_array);
            waiting.extend(parts.into_iter().flatten());
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) {
            waiting.extend(root.pointer(pointer));
        }
    }
    found
}
