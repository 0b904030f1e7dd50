//! JSON Schema: any schema compiles or is rejected, any instance gets a verdict, and the verdict equals that
//! of the `jsonschema` crate.

use serde_json::Value;
use turnbuckle_schema::{Keyword, Schema};

use super::Target;

pub const TARGET: Target = Target {
    name: "schema",
    run,
    seeds: &[
        br#"{"type":"object","properties":{"a":{"type":"integer","minimum":1}},"required":["a"],"additionalProperties":false}
{"a":3.0}"#,
        br##"{"$defs":{"t":{"type":["string","null"],"maxLength":2}},"items":{"$ref":"#/$defs/t"},"uniqueItems":true}
["ab",null]"##,
        br#"{"oneOf":[{"const":1},{"enum":[1,"a"]},{"not":{}}],"anyOf":[true,false]}
"a""#,
        br#"{"prefixItems":[{"multipleOf":0.1}],"contains":{"exclusiveMaximum":3},"minContains":2,"unevaluatedItems":false}
[1,2]"#,
        br#"{"if":{"properties":{"a":{"const":1}}},"then":{"dependentRequired":{"a":["b"]}},"else":{"propertyNames":{"minLength":2}}}
{"a":1}"#,
    ],
    words: &[
        "\"type\":\"", "integer", "number", "\"properties\":{", "\"required\":[", "\"items\":", "\"allOf\":[",
        "\"minProperties\":", "\"maxItems\":", "\"dependentSchemas\":{", "\"unevaluatedProperties\":", "\"const\":",
        "\"patternProperties\":{", "\"$ref\":\"#\"", "\"$anchor\":\"a\"", "\"$dynamicRef\":\"#a\"", "true", "false", "null", "1e400",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else {
        return;
    };
    let (schema, instance) = text.split_once('\n').unwrap_or((text, "null"));
    let Ok(source) = serde_json::from_str::<Value>(schema) else {
        return;
    };
    let Ok(instance) = serde_json::from_str::<Value>(instance) else {
        return;
    };
    check(&source, &instance);
}

fn check(source: &Value, instance: &Value) {
    let Ok(schema) = Schema::compile(source) else {
        return;
    };
    let checked = schema.check(instance);
    let _ = schema.coerce(&mut instance.clone());
    let is_limit = |checked: &Result<(), Vec<turnbuckle_schema::Violation>>| {
        let first = checked
            .as_ref()
            .err()
            .and_then(|violations| violations.first());
        first.is_some_and(|violation| violation.keyword == Keyword::Limit)
    };
    if is_limit(&checked) {
        return;
    }
    assert_eq!(
        schema.is_valid(instance),
        checked.is_ok(),
        "both ways of checking agree"
    );
    if !is_comparable(source) {
        return;
    }
    if let Ok(oracle) = jsonschema::draft202012::new(source) {
        assert_eq!(
            checked.is_ok(),
            oracle.is_valid(instance),
            "the oracle says otherwise: {checked:?}"
        );
    }
}

/// Whether both crates answer the same question: other dialects, formats and document names are
/// settings in either crate, and their engines for patterns accept different patterns.
fn is_comparable(source: &Value) -> bool {
    match source {
        Value::Object(members) => members.iter().all(|(name, value)| {
            let is_setting = matches!(
                name.as_str(),
                "$schema"
                    | "$id"
                    | "$vocabulary"
                    | "format"
                    | "pattern"
                    | "patternProperties"
                    | "$dynamicRef"
                    | "$recursiveRef"
                    | "$anchor"
                    | "$dynamicAnchor"
                    | "id"
                    | "contentEncoding"
                    | "contentMediaType"
            );
            let is_remote = name == "$ref" && !value.as_str().is_some_and(|at| at.starts_with('#'));
            !is_setting && !is_remote && is_comparable(value)
        }),
        Value::Array(items) => items.iter().all(is_comparable),
        // The other crate treats numbers beyond a double in its own way.
        Value::Number(number) => number.as_f64().is_some_and(|number| number.abs() < 1e15),
        _ => true,
    }
}
