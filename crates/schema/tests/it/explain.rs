//! Explanations: models read them, so the tests compare the full text.

use serde_json::{Value, json};
use turnbuckle_schema::{Keyword, Schema};

fn search() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "unit": { "enum": ["celsius", "fahrenheit"] },
            "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
            "where": {
                "oneOf": [
                    { "type": "object", "properties": { "kind": { "const": "city" }, "name": { "type": "string" } }, "required": ["kind", "name"] },
                    { "type": "object", "properties": { "kind": { "const": "point" }, "lat": { "type": "number" } }, "required": ["kind", "lat"] }
                ]
            },
            "page": { "anyOf": [{ "type": "integer" }, { "type": "null" }] }
        },
        "required": ["query"],
        "additionalProperties": false
    })
}

#[track_caller]
fn explained(schema: &Value, instance: &Value) -> String {
    let schema = Schema::compile(schema).expect("a schema");
    let violations = schema.check(instance).expect_err("it is wrong");
    schema.explain(&violations)
}

#[track_caller]
fn explains(instance: &Value, line: &str) {
    let text = explained(&search(), instance);
    assert_eq!(
        text,
        format!("{line}\nA valid example: {{\"query\":\"text\"}}")
    );
}

#[test]
fn a_wrong_kind_names_both_kinds() {
    explains(
        &json!({ "query": "rain", "limit": "five" }),
        "- `/limit`: expected an integer, found the string \"five\"",
    );
}

#[test]
fn a_bound_is_told_with_the_value() {
    explains(
        &json!({ "query": "", "limit": 99 }),
        "- `/query`: expected a string of at least 1 character, found \"\" (0 characters)\n\
         - `/limit`: expected a number of at most 50, found 99",
    );
}

#[test]
fn an_unknown_name_brings_the_nearest_known_one() {
    explains(
        &json!({ "query": "rain", "limt": 3 }),
        "- `/limt`: unknown property; did you mean `limit`? Expected only the properties `query`, `unit`, `limit`, \
         `where`, `page`",
    );
}

#[test]
fn a_missing_name_brings_the_stray_one() {
    let mut open = search();
    open["additionalProperties"] = json!(true);
    assert_eq!(
        explained(&open, &json!({ "Query": "rain" })),
        "- at the top level: the required property `query` is missing; you sent `Query`, rename it to `query`\n\
         A valid example: {\"query\":\"text\"}"
    );
    explains(
        &json!({}),
        "- at the top level: the required property `query` is missing; found an empty object",
    );
}

#[test]
fn a_wrong_choice_brings_the_nearest_one() {
    explains(
        &json!({ "query": "rain", "unit": "Celcius" }),
        "- `/unit`: expected one of \"celsius\", \"fahrenheit\", found the string \"Celcius\"; did you mean \
         \"celsius\"?",
    );
}

#[test]
fn only_the_branch_that_was_meant_speaks() {
    explains(
        &json!({ "query": "rain", "where": { "kind": "point", "lat": "north" } }),
        "- `/where/lat`: expected a number, found the string \"north\"",
    );
    explains(
        &json!({ "query": "rain", "where": { "kind": "pont", "lat": 1 } }),
        "- `/where/kind`: expected one of \"city\", \"point\", found the string \"pont\"; did you mean \"point\"?",
    );
    explains(
        &json!({ "query": "rain", "page": "two" }),
        "- `/page`: expected an integer or null, found the string \"two\"",
    );
}

#[test]
fn branches_without_a_tag_are_judged_by_their_faults() {
    let schema = json!({ "anyOf": [
        { "type": "object", "required": ["a", "b", "c"] },
        { "type": "object", "required": ["a", "d"], "properties": { "a": { "type": "integer" } } }
    ]});
    let text = explained(&schema, &json!({ "a": 1 }));
    assert!(
        text.starts_with(
            "- at the top level: expected a value that matches one of 2 alternatives, found the object {\"a\":1}\n  \
             the alternative that came closest says:\n  \
             - at the top level: the required property `d` is missing; found only `a`\n"
        ),
        "{text}"
    );
}

#[test]
fn documented_enums_read_like_plain_ones() {
    let schema = json!({ "oneOf": [
        { "const": "low", "description": "Soon enough." },
        { "const": "high", "description": "At once." }
    ]});
    assert_eq!(
        explained(&schema, &json!("hihg")),
        "- at the top level: expected one of \"low\", \"high\", found the string \"hihg\"; did you mean \"high\"?\n\
         A valid example: \"low\""
    );
}

#[test]
fn long_values_are_shortened_in_every_message() {
    let schema = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let text = explained(
        &schema,
        &json!({ "a": "x".repeat(100_000), "b": vec!["y"; 10_000] }),
    );
    assert!(text.len() < 500, "{text}");
}

#[test]
fn a_schema_without_an_example_is_explained_without_one() {
    let text = explained(&json!(false), &json!(1));
    assert_eq!(
        text,
        "- at the top level: expected nothing at this place, found the integer 1"
    );
}

#[test]
fn violations_can_be_read_by_programs() {
    let schema = Schema::compile(&search()).expect("a schema");
    let violations = schema.check(&json!({ "query": 1 })).expect_err("a number");
    assert_eq!(violations[0].keyword, Keyword::Type);
    assert_eq!(
        serde_json::to_value(&violations).expect("plain data"),
        json!([{ "pointer": "/query", "keyword": "type", "expected": "a string", "found": "the integer 1" }])
    );
}
