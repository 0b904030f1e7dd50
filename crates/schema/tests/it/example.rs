//! Examples: valid if a schema can be satisfied in simple ways, and short.

use serde_json::{Value, json};
use turnbuckle_schema::{Schema, example};

#[track_caller]
fn gives(schema: &Value, expected: &Value) {
    assert_eq!(example(schema).as_ref(), Some(expected), "{schema}");
}

#[track_caller]
fn succeeds(schema: &Value) {
    let built = example(schema);
    let compiled = Schema::compile(schema).expect("a schema");
    assert!(
        built.as_ref().is_some_and(|value| compiled.is_valid(value)),
        "{schema}: {built:?}"
    );
}

#[test]
fn what_is_required_is_there_and_the_rest_is_not() {
    let schema = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "limit": { "type": "integer", "minimum": 10 },
            "deep": { "type": "boolean" }
        },
        "required": ["limit", "path"]
    });
    gives(&schema, &json!({ "path": "text", "limit": 10 }));
    gives(&json!({ "type": "object" }), &json!({}));
    gives(&json!({}), &json!("text"));
}

#[test]
fn what_the_schema_offers_comes_first() {
    gives(&json!({ "type": "integer", "default": 7 }), &json!(7));
    gives(
        &json!({ "type": "string", "examples": ["north"], "default": "south" }),
        &json!("north"),
    );
    gives(&json!({ "enum": ["a", "b"] }), &json!("a"));
    gives(&json!({ "const": { "a": [1] } }), &json!({ "a": [1] }));
    // A default that is itself invalid is skipped.
    gives(&json!({ "type": "integer", "default": "seven" }), &json!(1));
}

#[test]
fn bounds_are_kept() {
    for schema in [
        json!({ "type": "integer", "minimum": 3, "maximum": 3 }),
        json!({ "type": "integer", "exclusiveMinimum": 3, "multipleOf": 7 }),
        json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }),
        json!({ "type": "integer", "maximum": -100 }),
        json!({ "type": "number", "multipleOf": 0.25, "minimum": 0.3 }),
        json!({ "type": "integer", "minimum": 9_007_199_254_740_993_u64 }),
        json!({ "type": "string", "minLength": 12, "maxLength": 12 }),
        json!({ "type": "string", "maxLength": 2 }),
        json!({ "type": "string", "pattern": "^[A-Z]{3}-\\d+$" }),
        json!({ "type": "string", "pattern": "^a+$", "minLength": 5 }),
        json!({ "type": "string", "format": "date-time" }),
        json!({ "type": "array", "items": { "type": "integer" }, "minItems": 3, "uniqueItems": true }),
        json!({ "type": "array", "items": { "enum": ["x", "y"] }, "minItems": 2, "uniqueItems": true }),
        json!({ "type": "array", "contains": { "const": 5 }, "minContains": 2 }),
        json!({ "type": "array", "prefixItems": [{ "type": "string" }, { "type": "null" }], "minItems": 2 }),
        json!({ "type": "object", "minProperties": 2 }),
        json!({ "type": "object", "additionalProperties": { "type": "integer" }, "minProperties": 2 }),
    ] {
        succeeds(&schema);
    }
}

#[test]
fn branches_are_tried_until_one_works() {
    for schema in [
        json!({ "anyOf": [false, { "type": "integer" }] }),
        json!({ "oneOf": [{ "type": "number" }, { "type": "integer" }, { "type": "string" }] }),
        json!({ "allOf": [{ "required": ["a"] }, { "properties": { "a": { "type": "null" } } }] }),
        json!({ "properties": { "k": { "const": 1 } }, "if": { "required": ["k"] }, "then": { "required": ["z"] } }),
        json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "object", "required": ["b"], "properties": { "b": { "$ref": "#/$defs/c" } } }, "c": { "const": 4 } } }),
    ] {
        succeeds(&schema);
    }
}

#[test]
fn recursive_types_end() {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } },
        "required": ["name", "children"]
    });
    gives(&schema, &json!({ "name": "text", "children": [] }));
    let endless = json!({ "type": "object", "properties": { "next": { "$ref": "#" } }, "required": ["next"] });
    assert_eq!(example(&endless), None);
}

#[test]
fn the_impossible_has_no_example() {
    for schema in [
        json!(false),
        json!({ "type": "string", "enum": [1] }),
        json!({ "type": 5 }),
    ] {
        assert_eq!(example(&schema), None, "{schema}");
    }
}
