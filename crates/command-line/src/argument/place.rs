//! The part of a schema that a path leads to.

use serde_json::Value;

/// How many schemas are looked at in one place, which bounds the work. Real schemas have far fewer.
const MAX_SCHEMAS: usize = 1_000;

/// Keywords whose schemas may apply too, in a list.
const LISTED: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// The same, alone.
const ALONE: [&str; 3] = ["if", "then", "else"];

/// The same, by the name of what they depend on.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];

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
    named
        .or_else(additional)
        .or_else(|| item(schema, name.parse().ok()?))
}

/// The schema of one item: its own, if its place has one, or that of all others.
fn item(schema: &Value, index: usize) -> Option<&Value> {
    // Before 2020-12, a tuple was a list of `items`.
    let places = ["prefixItems", "items"].map(|keyword| schema.get(keyword)?.as_array());
    let own = places.into_iter().flatten().next();
    own.and_then(|places| places.get(index))
        .or_else(|| schema.get("items").filter(|items| !items.is_array()))
}

/// A schema, and those that it is made of.
fn alternatives<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let mut found: Vec<&'a Value> = Vec::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        if found.len() >= MAX_SCHEMAS || found.iter().any(|known| std::ptr::eq(*known, schema)) {
            continue;
        }
        found.push(schema);
        let parts = LISTED.map(|keyword| schema.get(keyword).and_then(Value::as_array));
        waiting.extend(parts.into_iter().flatten().flatten());
        waiting.extend(ALONE.into_iter().filter_map(|keyword| schema.get(keyword)));
        let parts = DEPENDENT.map(|keyword| schema.get(keyword).and_then(Value::as_object));
        waiting.extend(
            parts
                .into_iter()
                .flatten()
                .flat_map(serde_json::Map::values),
        );
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(pointer) = reference.and_then(|reference| reference.strip_prefix('#')) {
            waiting.extend(root.pointer(pointer));
        }
    }
    found
}
