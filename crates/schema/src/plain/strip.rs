//! Removes details that only matter to Rust: integer widths, and the `null` of an `Option` field.

use serde_json::{Map, Value};

use crate::dialect::{Dialect, Form};

/// Whether values are read or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Contract {
    /// Values are read: serde treats an absent `Option` field and a `null` one alike.
    Read,
    /// Values are written: the schema must mention a `null` that may appear.
    Written,
}

/// The formats that schemars uses for the widths of Rust's numbers.
const WIDTHS: [&str; 16] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64",
    "uint128", "uint", "float", "double", "isize", "usize",
];

pub(super) fn strip(schema: &mut Value, contract: Contract) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| WIDTHS.contains(&format))
    {
        keywords.shift_remove("format");
    }
    if let Some(Value::Array(required)) = keywords.get_mut("required") {
        // A flattened struct may repeat a name, which is still one name.
        let mut seen = Vec::new();
        required.retain(|name| {
            !seen.contains(name) && {
                seen.push(name.clone());
                true
            }
        });
    }
    strip_subschemas(keywords, contract);
    let required = keywords.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        required
            .as_array()
            .is_some_and(|list| list.iter().any(|other| other == name))
    };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        for (name, property) in properties {
            if contract == Contract::Read && !is_required(name) {
                remove_null(property);
            }
            if *property == Value::Bool(true) {
                // Some clients only accept objects as the schemas of properties.
                *property = Value::Object(Map::new());
            }
        }
    }
}

fn strip_subschemas(keywords: &mut Map<String, Value>, contract: Contract) {
    for (keyword, value) in keywords {
        match (Dialect::Draft202012.form(keyword), value) {
            (Some(Form::Schema), value) => strip(value, contract),
            (Some(Form::Schemas), Value::Array(list)) => {
                for schema in list {
                    strip(schema, contract);
                }
            }
            (Some(Form::SchemaMap), Value::Object(map)) => {
                map.values_mut().for_each(|schema| strip(schema, contract));
            }
            _ => {}
        }
    }
}

/// Removes `null` from a schema, wherever an `Option` has put it.
pub(super) fn remove_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if let Some(Value::Array(kinds)) = keywords.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = &kinds[..] {
            keywords["type"] = only.clone();
        }
    }
    if let Some(Value::Array(choices)) = keywords.get_mut("enum")
        && choices.len() > 1
    {
        choices.retain(|choice| !choice.is_null());
    }
    if keywords.get("default") == Some(&Value::Null) {
        keywords.shift_remove("default");
    }
    let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
    let Some(Value::Array(branches)) = keywords.get_mut("anyOf") else {
        return;
    };
    if branches.iter().all(is_null) {
        return;
    }
    branches.retain(|branch| !is_null(branch));
    if branches.len() == 1
        && let Some(Value::Object(only)) = branches.pop()
    {
        keywords.shift_remove("anyOf");
        unwrap_into(keywords, only);
    }
}

/// Merges the keywords of a single branch into the schema around it; the keywords of the field take precedence.
fn unwrap_into(keywords: &mut Map<String, Value>, only: Map<String, Value>) {
    for (keyword, value) in only {
        keywords.entry(keyword).or_insert(value);
    }
}
