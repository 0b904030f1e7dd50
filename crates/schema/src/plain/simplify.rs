//! What a schema says twice, or says to Rust alone, left out.

use serde_json::{Map, Value};

/// Formats that name Rust's number types and mean nothing to anyone else.
const NUMBER_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64",
    "uint128", "uint", "float", "double",
];

pub(super) fn simplify(schema: &mut Value) {
    if let Value::Object(root) = schema {
        root.shift_remove("$schema");
        // The name of the Rust type.
        root.shift_remove("title");
    }
    simplify_below(schema);
}

fn simplify_below(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    drop_number_format(object);
    let required: Vec<Value> =
        object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (name, value) in object.iter_mut() {
        match name.as_str() {
            "properties" => {
                for (property, schema) in value.as_object_mut().into_iter().flatten() {
                    if !required.contains(&Value::from(property.as_str())) {
                        drop_null(schema);
                    }
                    drop_type_title(schema);
                    simplify_below(schema);
                }
            }
            "$defs" | "patternProperties" | "dependentSchemas" => {
                value.as_object_mut().into_iter().flatten().for_each(|(_, schema)| {
                    drop_type_title(schema);
                    simplify_below(schema);
                });
            }
            "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains"
            | "propertyNames" => {
                drop_type_title(value);
                simplify_below(value);
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for schema in value.as_array_mut().into_iter().flatten() {
                    drop_type_title(schema);
                    simplify_below(schema);
                }
            }
            _ => {}
        }
    }
}

fn drop_number_format(object: &mut Map<String, Value>) {
    let format = object.get("format").and_then(Value::as_str);
    if format.is_some_and(|format| NUMBER_FORMATS.contains(&format)) {
        object.shift_remove("format");
    }
}

/// schemars titles a subschema only by the name of a Rust type.
fn drop_type_title(_schema: &mut Value) {}

/// A property that may be left out need not also be null.
fn drop_null(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            object.insert("type".into(), one);
        }
        if let Some(Value::Array(values)) = object.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        return;
    }
    let Some(Value::Array(branches)) = object.get_mut("anyOf") else { return };
    let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
    if branches.len() != 2 || !branches.iter().any(is_null) {
        return;
    }
    branches.retain(|branch| !is_null(branch));
    let Some(Value::Object(only)) = branches.pop() else { return };
    object.shift_remove("anyOf");
    for (name, value) in only {
        object.entry(name).or_insert(value);
    }
}
