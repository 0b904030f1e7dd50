//! Finds the part of a schema at a path.

use serde_json::Value;

/// How many schemas are considered at one place, to limit the work. Real schemas have far fewer.
const MAX_SCHEMAS: usize = 1_000;

/// Keywords with lists of schemas that may apply too.
const LISTED: [&str; 3] = ["anyOf", "oneOf", "allOf"];

/// Keywords with one schema that may apply too.
const ALONE: [&str; 3] = ["if", "then", "else"];

/// Keywords with schemas that apply too if the property with their name is present.
const DEPENDENT: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Every schema that may apply at a path, including those in combinations and behind references.
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

/// The schema of the item at a position, or else the schema of all items.
fn item(schema: &Value, index: usize) -> Option<&Value> {
    // Before 2020-12, the schemas of a tuple were a list in `items`.
    let places = ["prefixItems", "items"].map(|keyword| schema.get(keyword)?.as_array());
    let own = places.into_iter().flatten().next();
    own.and_then(|places| places.get(index))
        .or_else(|| schema.get("items").filter(|items| !items.is_array()))
}

/// A schema, and the schemas that it combines or refers to.
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
