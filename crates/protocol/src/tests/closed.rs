//! The specification's schemas allow unknown members, so a member of a later revision would be valid in
//! an earlier one. Here the schemas are closed: a message may have no member that the revision does not
//! define.

use serde_json::{Map, Value, json};

use crate::{Revision, tests::facts::Schema};

/// Objects that are meant to be open, although the schema does not say so.
///
/// Schemas of tools are JSON Schema, with any keyword. `_meta` is a map in every revision.
const OPEN_MEMBERS: [&str; 3] = ["inputSchema", "outputSchema", "_meta"];

/// Returns a schema in which every object has only the members that it names.
pub(crate) fn close(schema: &Schema) -> Schema {
    let mut definitions = Map::new();
    for (name, definition) in schema.definitions() {
        definitions.insert(open_name(name), definition.clone());
        let mut definition = definition.clone();
        let is_open = name.ends_with("MetaObject");
        if !is_open {
            close_all(&mut definition);
        }
        definitions.insert(name.clone(), definition);
    }
    for name in ["ClientCapabilities", "ServerCapabilities"] {
        // 2025-11-25 has these, but its schema does not contain them.
        if schema.revision == Revision::V2025_11_25.as_str() {
            definitions[name]["properties"]["extensions"] = json!({});
        }
    }
    let mut document = schema.document.clone();
    document["$defs"] = definitions.into();
    Schema {
        document,
        ..*schema
    }
}

/// The name of the original definition.
fn open_name(name: &str) -> String {
    format!("{name}-open")
}

fn close_all(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close_all),
        Value::Object(members) if members.contains_key("allOf") => close_combination(members),
        Value::Object(members) => close_object(members),
        _ => {}
    }
}

fn close_object(members: &mut Map<String, Value>) {
    let names_members = members
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|named| !named.is_empty());
    if names_members && !members.contains_key("additionalProperties") {
        members.insert("additionalProperties".into(), false.into());
    }
    for (keyword, schema) in members.iter_mut() {
        match (keyword.as_str(), schema) {
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties {
                    if !OPEN_MEMBERS.contains(&name.as_str()) {
                        close_all(property);
                    }
                    // Until 2025-06-18 it is defined once, for all requests and notifications.
                    if name == "params" && property.get("properties").is_some() {
                        property["properties"]["_meta"] = json!({});
                    }
                }
            }
            ("items" | "anyOf" | "oneOf" | "additionalProperties", schema) => {
                close_all(schema);
            }
            _ => {}
        }
    }
}

/// Keeps the parts of a combination open, and closes the whole: otherwise each part would reject the
/// members of the others.
fn close_combination(members: &mut Map<String, Value>) {
    for part in members["allOf"]
        .as_array_mut()
        .expect("`allOf` is an array")
    {
        if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
            let name = reference
                .rsplit('/')
                .next()
                .expect("a reference has a name");
            // `Result` allows any member, and would leave nothing to close.
            *part = if name == "Result" {
                json!({ "properties": { "_meta": {} } })
            } else {
                json!({ "$ref": format!("#/$defs/{}", open_name(name)) })
            };
        }
    }
    members.insert("unevaluatedProperties".into(), false.into());
}
