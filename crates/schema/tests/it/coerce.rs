//! Coercion: values that models send become values that the schema expects, if the meaning is clear.

use serde_json::{Value, json};
use turnbuckle_schema::Schema;

#[track_caller]
fn becomes(schema: &Value, sent: &Value, expected: &Value) {
    let compiled = Schema::compile(schema).expect("a schema");
    let mut value = sent.clone();
    let coercions = compiled.coerce(&mut value);
    assert_eq!(&value, expected, "{sent} under {schema}");
    assert_eq!(coercions.is_empty(), sent == expected, "{coercions}");
    // Coercing a second time changes nothing.
    let _ = compiled.coerce(&mut value);
    assert_eq!(&value, expected);
}

#[test]
fn text_becomes_the_scalar_that_is_wanted() {
    let schema = json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer" },
            "ratio": { "type": "number" },
            "force": { "type": "boolean" },
            "name": { "type": "string" }
        }
    });
    becomes(
        &schema,
        &json!({ "count": "5", "ratio": "0.5", "force": "true", "name": 7 }),
        &json!({ "count": 5, "ratio": 0.5, "force": true, "name": "7" }),
    );
    becomes(
        &schema,
        &json!({ "count": 5.0, "name": true }),
        &json!({ "count": 5, "name": "true" }),
    );
    becomes(
        &schema,
        &json!({ "count": "9007199254740993" }),
        &json!({ "count": 9_007_199_254_740_993_u64 }),
    );
    let lost = json!({ "count": "five", "ratio": "half", "force": 1, "name": {} });
    becomes(&schema, &lost, &lost);
}

#[test]
fn json_in_a_string_becomes_the_structure_it_spells() {
    let schema = json!({
        "type": "object",
        "properties": {
            "filter": { "type": "object", "properties": { "limit": { "type": "integer" } } },
            "tags": { "type": "array", "items": { "type": "string" } }
        }
    });
    becomes(
        &schema,
        &json!({ "filter": "{\"limit\": \"3\"}", "tags": "[\"a\", 1]" }),
        &json!({ "filter": { "limit": 3 }, "tags": ["a", "1"] }),
    );
    // This also holds for the arguments as a whole.
    becomes(
        &schema,
        &json!("{\"tags\": [\"a\"]}"),
        &json!({ "tags": ["a"] }),
    );
    becomes(
        &schema,
        &json!({ "tags": "[broken" }),
        &json!({ "tags": ["[broken"] }),
    );
}

#[test]
fn one_value_becomes_a_list_of_one() {
    let schema = json!({ "properties": {
        "ids": { "type": "array", "items": { "type": "integer" } },
        "any": { "type": "array" }
    }});
    becomes(&schema, &json!({ "ids": 5 }), &json!({ "ids": [5] }));
    becomes(&schema, &json!({ "ids": "5" }), &json!({ "ids": [5] }));
    becomes(&schema, &json!({ "any": "x" }), &json!({ "any": ["x"] }));
    let other = json!({ "ids": "x" });
    becomes(&schema, &other, &other);
}

#[test]
fn null_becomes_absence_where_absence_is_allowed() {
    let schema = json!({
        "properties": {
            "limit": { "type": "integer" },
            "path": { "type": "string" },
            "note": { "type": ["string", "null"] }
        },
        "required": ["path"]
    });
    becomes(
        &schema,
        &json!({ "path": "/", "limit": null, "note": null }),
        &json!({ "path": "/", "note": null }),
    );
    let missing = json!({ "path": null });
    becomes(&schema, &missing, &missing);
}

#[test]
fn branches_references_and_lists_are_walked() {
    let schema = json!({
        "$defs": { "point": { "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] } },
        "properties": {
            "at": { "anyOf": [{ "$ref": "#/$defs/point" }, { "type": "null" }] },
            "path": { "type": "array", "items": { "$ref": "#/$defs/point" } },
            "size": { "oneOf": [{ "type": "integer" }, { "type": "string", "minLength": 4 }] },
            "mode": { "enum": [1, 2, "auto"] }
        },
        "additionalProperties": { "type": "boolean" }
    });
    becomes(
        &schema,
        &json!({ "at": { "x": "1.5" } }),
        &json!({ "at": { "x": 1.5 } }),
    );
    becomes(
        &schema,
        &json!({ "at": "{\"x\": 2}" }),
        &json!({ "at": { "x": 2 } }),
    );
    becomes(&schema, &json!({ "at": "null" }), &json!({ "at": null }));
    becomes(
        &schema,
        &json!({ "path": [{ "x": "1" }] }),
        &json!({ "path": [{ "x": 1 }] }),
    );
    becomes(&schema, &json!({ "size": "12" }), &json!({ "size": 12 }));
    becomes(&schema, &json!({ "mode": "2" }), &json!({ "mode": 2 }));
    becomes(
        &schema,
        &json!({ "extra": "false" }),
        &json!({ "extra": false }),
    );
}

#[test]
fn what_can_be_mended_is_mended_beside_what_cannot() {
    let schema = json!({
        "properties": { "a": { "type": "integer" }, "b": { "type": "integer" } },
        "required": ["a", "c"]
    });
    let compiled = Schema::compile(&schema).expect("a schema");
    let mut value = json!({ "a": "1", "b": "x" });
    let coercions = compiled.coerce(&mut value);
    assert_eq!(coercions.to_string(), "/a: a string read as an integer");
    assert_eq!(coercions.len(), 1);
    let violations = compiled.check(&value).expect_err("b and c are wrong");
    assert_eq!(violations.len(), 2);
}

#[test]
fn ambiguity_leaves_what_is_valid_alone() {
    for (schema, value) in [
        (json!({ "type": ["string", "integer"] }), json!("5")),
        (
            json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
            json!("5"),
        ),
        (json!({}), json!({ "a": "5", "b": null })),
        (json!({ "type": "number" }), json!(5.0)),
        (json!({ "const": "5" }), json!("5")),
    ] {
        becomes(&schema, &value, &value);
    }
}
