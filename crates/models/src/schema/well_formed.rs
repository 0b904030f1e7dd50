//! Repairs keywords with values that JSON Schema does not allow. Because of a single such keyword
//! an API refuses all tools, so they are removed, or rewritten for the newest draft.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The names of types.
const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// Makes the keywords of one schema well-formed, without those of its subschemas. Returns
/// descriptions of the changes, each as a sentence.
pub(super) fn make(schema: &mut Map<String, Value>) -> Vec<String> {
    let mut changes = draft_4(schema);
    let is_malformed = |(keyword, value): (&String, &Value)| !is_well_formed(keyword, value);
    let malformed: Vec<String> = schema
        .iter()
        .filter(|member| is_malformed(*member))
        .map(|(keyword, _)| keyword.clone())
        .collect();
    for keyword in malformed {
        schema.shift_remove(&keyword);
        changes.push(format!("`{keyword}` left out; its value is not allowed"));
    }
    // A repeated value has no meaning, and some validators refuse it.
    for keyword in ["required", "enum", "type"] {
        if let Some(Value::Array(values)) = schema.get_mut(keyword) {
            let mut seen = HashSet::new();
            values.retain(|value| seen.insert(value.to_string()));
        }
    }
    changes
}

/// Converts exclusive limits of draft 4, which are `true` next to the limit.
fn draft_4(schema: &mut Map<String, Value>) -> Vec<String> {
    let mut changes = Vec::new();
    for (exclusive, limit) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        match (schema.get(exclusive), schema.get(limit)) {
            (Some(Value::Bool(true)), Some(Value::Number(_))) => {
                let number = schema.shift_remove(limit).unwrap_or_default();
                schema.insert(exclusive.to_owned(), number);
                changes.push(format!("`{exclusive}` written as a number"));
            }
            (Some(Value::Bool(false)), _) => {
                schema.shift_remove(exclusive);
            }
            _ => {}
        }
    }
    changes
}

fn is_well_formed(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => match value {
            Value::Array(types) => !types.is_empty() && types.iter().all(is_type),
            one => is_type(one),
        },
        "properties" | "patternProperties" | "dependentSchemas" | "dependencies" => {
            value.is_object()
        }
        "dependentRequired" => value
            .as_object()
            .is_some_and(|lists| lists.values().all(is_list_of_texts)),
        "required" => is_list_of_texts(value),
        "anyOf" | "oneOf" | "allOf" | "prefixItems" | "enum" => {
            value.as_array().is_some_and(|values| !values.is_empty())
        }
        "examples" => value.is_array(),
        "items" | "additionalItems" => value.is_array() || is_schema(value),
        "not"
        | "if"
        | "then"
        | "else"
        | "contains"
        | "propertyNames"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "unevaluatedItems" => is_schema(value),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "multipleOf" => value.as_f64().is_some_and(|number| number > 0.0),
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
        | "minContains" | "maxContains" => is_count(value),
        "uniqueItems" | "readOnly" | "writeOnly" | "deprecated" | "nullable" => value.is_boolean(),
        "description" | "title" | "format" | "pattern" | "contentEncoding" | "contentMediaType" => {
            value.is_string()
        }
        _ => true,
    }
}

fn is_type(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

fn is_schema(value: &Value) -> bool {
    value.is_object() || value.is_boolean()
}

fn is_list_of_texts(value: &Value) -> bool {
    value
        .as_array()
        .is_some_and(|texts| texts.iter().all(Value::is_string))
}

/// Whether a value is an integer of at least 0. It may be written as `1.0`.
fn is_count(value: &Value) -> bool {
    value
        .as_f64()
        .is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_json_schema_does_not_allow_is_left_out_or_rewritten() {
        for (written, wanted, changes) in [
            (json!({"type": "any"}), json!({}), 1),
            (
                json!({"type": "int", "minimum": 1}),
                json!({"minimum": 1}),
                1,
            ),
            (json!({"type": []}), json!({}), 1),
            (
                json!({"type": ["string", "null", "string"]}),
                json!({"type": ["string", "null"]}),
                0,
            ),
            (
                json!({"minimum": 3, "exclusiveMinimum": true}),
                json!({"exclusiveMinimum": 3}),
                1,
            ),
            (
                json!({"maximum": 3, "exclusiveMaximum": false}),
                json!({"maximum": 3}),
                0,
            ),
            (json!({"exclusiveMinimum": true}), json!({}), 1),
            (
                json!({"minLength": -1, "maxLength": 2.0}),
                json!({"maxLength": 2.0}),
                1,
            ),
            (json!({"maxItems": 1.5, "multipleOf": 0}), json!({}), 2),
            (json!({"format": 5, "pattern": null}), json!({}), 2),
            (json!({"enum": []}), json!({}), 1),
            (json!({"enum": ["a", "a", 1]}), json!({"enum": ["a", 1]}), 0),
            (
                json!({"required": ["a", "a"]}),
                json!({"required": ["a"]}),
                0,
            ),
            (json!({"required": true}), json!({}), 1),
            (
                json!({"additionalProperties": "no", "not": 5, "uniqueItems": "yes"}),
                json!({}),
                3,
            ),
            (json!({"dependentRequired": {"a": "b"}}), json!({}), 1),
        ] {
            let mut schema = written.as_object().cloned().unwrap();
            let changed = make(&mut schema);
            assert_eq!(Value::Object(schema), wanted, "{written}");
            assert_eq!(changed.len(), changes, "{written}: {changed:?}");
        }
    }

    #[test]
    fn what_is_well_formed_stays() {
        let schema = json!({
            "type": ["object", "null"], "title": "t", "description": "d", "properties": {"a": true},
            "required": ["a"], "additionalProperties": false, "minProperties": 0, "enum": [null],
            "exclusiveMinimum": 0.5, "multipleOf": 0.1, "pattern": "^a", "format": "own", "default": 1,
            "const": null, "examples": [], "nullable": true, "x-own": [1], "items": {}, "not": {},
            "dependentRequired": {"a": ["b"]},
        });
        let mut same = schema.as_object().cloned().unwrap();
        assert_eq!(make(&mut same), Vec::<String>::new());
        assert_eq!(Value::Object(same), schema);
    }
}
