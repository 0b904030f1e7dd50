//! The schema of a revision, generated from the table.

use serde_json::{Map, Value, json};

use super::{Kind, Table, kind::Bounds};

/// The schema of a revision: one document with a definition for each type.
#[derive(Clone)]
pub(crate) struct Schema {
    /// The date of the revision.
    pub(crate) revision: &'static str,
    pub(crate) document: Value,
}

impl Schema {
    /// Generates the schema of a revision from the table.
    pub(crate) fn of(table: &Table, date: &str) -> Self {
        let place = table.place(date);
        let types = table
            .facts
            .iter()
            .filter(|fact| fact.field.is_empty() && fact.holds(place));
        let definitions: Map<_, _> = types
            .map(|fact| {
                (
                    fact.owner.to_owned(),
                    schema(table, place, &fact.kind, fact.owner),
                )
            })
            .collect();
        Self {
            revision: table.revisions[place],
            document: json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$defs": definitions,
            }),
        }
    }

    pub(crate) fn definitions(&self) -> &Map<String, Value> {
        self.document["$defs"]
            .as_object()
            .expect("a schema has definitions")
    }

    pub(crate) fn has(&self, definition: &str) -> bool {
        self.definitions().contains_key(definition)
    }

    /// Returns one validator for all definitions: it takes an object whose members have the names of
    /// the definitions that they must satisfy.
    pub(crate) fn validator(&self) -> jsonschema::Validator {
        let reference = |name: &String| json!({ "$ref": format!("#/$defs/{name}") });
        let members: Map<_, _> = self
            .definitions()
            .keys()
            .map(|name| (name.clone(), reference(name)))
            .collect();
        let mut document = self.document.clone();
        document["properties"] = members.into();
        jsonschema::options()
            .should_validate_formats(true)
            .build(&document)
            .expect("the schema compiles")
    }
}

/// Returns the schema of a kind. `path` is its position, for the members of objects.
fn schema(table: &Table, revision: usize, kind: &Kind, path: &str) -> Value {
    let all = |kinds: &[Kind]| -> Vec<_> {
        let parts = kinds.iter();
        parts
            .map(|kind| schema(table, revision, kind, path))
            .collect()
    };
    match kind {
        Kind::Any => json!({}),
        Kind::Plain {
            types,
            format,
            bounds,
        } => {
            let types = match types.as_slice() {
                [one] => json!(one),
                several => json!(several),
            };
            let mut schema = json!({ "type": types });
            if let Some(format) = format {
                schema["format"] = json!(format);
            }
            set_bounds(&mut schema, ["minimum", "maximum"], *bounds);
            schema
        }
        Kind::Constant(value) if value.is_string() => json!({ "type": "string", "const": value }),
        Kind::Constant(value) => json!({ "type": "integer", "const": value }),
        Kind::Words(words) => json!({ "type": "string", "enum": words }),
        Kind::Type(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        Kind::Array(items, bounds) => {
            let items = schema(table, revision, items, &format!("{path}[]"));
            let mut schema = json!({ "type": "array", "items": items });
            set_bounds(&mut schema, ["minItems", "maxItems"], *bounds);
            schema
        }
        Kind::Object { is_named, others } => {
            let mut object = json!({ "type": "object" });
            if *is_named {
                set_members(table, revision, path, &mut object);
            }
            if let Some(others) = others {
                object["additionalProperties"] =
                    schema(table, revision, others, &format!("{path}{{}}"));
            }
            object
        }
        Kind::Either(kinds) => json!({ "anyOf": all(kinds) }),
        Kind::All(kinds) => json!({ "allOf": all(kinds) }),
    }
}

fn set_bounds(schema: &mut Value, keywords: [&str; 2], (least, greatest): Bounds) {
    for (keyword, bound) in keywords.into_iter().zip([least, greatest]) {
        if let Some(bound) = bound {
            schema[keyword] = json!(bound);
        }
    }
}

fn set_members(table: &Table, revision: usize, path: &str, object: &mut Value) {
    let mut members = Map::new();
    let mut required = Vec::new();
    for fact in table.fields(path, revision) {
        let member = schema(
            table,
            revision,
            &fact.kind,
            &format!("{path}.{}", fact.field),
        );
        members.insert(fact.field.to_owned(), member);
        if fact.is_required(revision) {
            required.push(fact.field);
        }
    }
    if !members.is_empty() {
        object["properties"] = members.into();
    }
    if !required.is_empty() {
        object["required"] = json!(required);
    }
}
