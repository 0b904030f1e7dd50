//! Every keyword by itself: the values that it accepts and rejects, and the pointer and keyword of each violation.

use serde_json::{Value, json};
use turnbuckle_schema::{Formats, Keyword, Schema, Settings};

/// Checks a schema: all of `valid` are accepted, and each of `invalid` is rejected at the pointer, by the keyword.
#[track_caller]
fn claim(schema: &Value, valid: &[Value], invalid: &[(Value, &str, Keyword)]) {
    let compiled = Schema::compile(schema).expect("a schema");
    for instance in valid {
        assert_eq!(
            compiled.check(instance),
            Ok(()),
            "{instance} under {schema}"
        );
    }
    for (instance, pointer, keyword) in invalid {
        assert!(!compiled.is_valid(instance), "{instance} under {schema}");
        let violations = compiled.check(instance).expect_err("as the verdict says");
        assert!(
            violations
                .iter()
                .any(|found| found.pointer == *pointer && found.keyword == *keyword),
            "{instance} under {schema}: {violations:?}"
        );
    }
}

#[test]
fn types_are_told_apart() {
    claim(
        &json!({ "type": "integer" }),
        &[json!(1), json!(1.0)],
        &[
            (json!(1.5), "", Keyword::Type),
            (json!("1"), "", Keyword::Type),
        ],
    );
    claim(
        &json!({ "type": ["string", "null"] }),
        &[json!("a"), Value::Null],
        &[(json!({}), "", Keyword::Type)],
    );
    claim(
        &json!({ "properties": { "a": false } }),
        &[json!({})],
        &[(json!({ "a": 1 }), "/a", Keyword::Never)],
    );
}

#[test]
fn enum_and_const_compare_by_value() {
    claim(
        &json!({ "enum": [1, "a", { "x": [1, 2] }] }),
        &[json!(1.0), json!({ "x": [1, 2] })],
        &[(json!({ "x": [2, 1] }), "", Keyword::Enum)],
    );
    claim(
        &json!({ "const": null }),
        &[Value::Null],
        &[(json!(false), "", Keyword::Const)],
    );
}

#[test]
fn numbers_are_bounded_exactly() {
    claim(
        &json!({ "minimum": 1, "maximum": 3 }),
        &[json!(1), json!(3.0), json!("0")],
        &[
            (json!(0.5), "", Keyword::Minimum),
            (json!(4), "", Keyword::Maximum),
        ],
    );
    claim(
        &json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 3 }),
        &[json!(2)],
        &[
            (json!(1), "", Keyword::ExclusiveMinimum),
            (json!(3), "", Keyword::ExclusiveMaximum),
        ],
    );
    claim(
        &json!({ "multipleOf": 0.1 }),
        &[json!(0.3), json!(1e20), json!(0)],
        &[(json!(0.35), "", Keyword::MultipleOf)],
    );
    claim(
        &json!({ "maximum": 9_007_199_254_740_992_u64 }),
        &[],
        &[(json!(9_007_199_254_740_993_u64), "", Keyword::Maximum)],
    );
}

#[test]
fn lengths_count_characters_and_patterns_search() {
    claim(
        &json!({ "minLength": 2, "maxLength": 3 }),
        &[json!("éé"), json!("🐲🐲🐲"), json!(1)],
        &[
            (json!("🐲"), "", Keyword::MinLength),
            (json!("abcd"), "", Keyword::MaxLength),
        ],
    );
    claim(
        &json!({ "pattern": "^a" }),
        &[json!("ab"), json!(1)],
        &[(json!("ba"), "", Keyword::Pattern)],
    );
}

#[test]
fn formats_describe_unless_they_are_asserted() {
    let schema = json!({ "format": "email" });
    claim(&schema, &[json!("nobody")], &[]);
    let asserted = Schema::compile_with(&schema, Settings::default().with_formats(Formats::Assert))
        .expect("a schema");
    let violations = asserted.check(&json!("nobody")).expect_err("no address");
    assert_eq!(violations[0].keyword, Keyword::Format);
    assert!(asserted.is_valid(&json!("someone@example.com")));
    let unknown = json!({ "format": "phone" });
    let asserted =
        Schema::compile_with(&unknown, Settings::default().with_formats(Formats::Assert));
    assert!(asserted.expect("a schema").is_valid(&json!("?")));
}

#[test]
fn items_are_ruled_by_place_kind_and_count() {
    claim(
        &json!({ "items": { "type": "integer" } }),
        &[json!([]), json!([1]), json!({})],
        &[(json!([1, "a"]), "/1", Keyword::Type)],
    );
    claim(
        &json!({ "prefixItems": [{ "const": 1 }], "items": false }),
        &[json!([1]), json!([])],
        &[
            (json!([2]), "/0", Keyword::Const),
            (json!([1, 2]), "/1", Keyword::Never),
        ],
    );
    claim(
        &json!({ "contains": { "const": 1 }, "minContains": 2, "maxContains": 2 }),
        &[json!([1, 2, 1])],
        &[
            (json!([1]), "", Keyword::Contains),
            (json!([1, 1, 1]), "", Keyword::MaxContains),
        ],
    );
    claim(
        &json!({ "contains": { "const": 1 }, "minContains": 0 }),
        &[json!([])],
        &[],
    );
    claim(
        &json!({ "minItems": 1, "maxItems": 2 }),
        &[json!([1])],
        &[
            (json!([]), "", Keyword::MinItems),
            (json!([1, 2, 3]), "", Keyword::MaxItems),
        ],
    );
    claim(
        &json!({ "uniqueItems": true }),
        &[json!([1, true, "1"])],
        &[(
            json!([{ "a": 1, "b": 2 }, { "b": 2, "a": 1.0 }]),
            "",
            Keyword::UniqueItems,
        )],
    );
}

#[test]
fn members_are_ruled_by_name_and_by_each_other() {
    claim(
        &json!({
            "properties": { "a": { "type": "integer" } },
            "patternProperties": { "^x-": { "type": "string" } },
            "additionalProperties": { "type": "boolean" }
        }),
        &[json!({ "a": 1, "x-b": "c", "d": true }), json!([])],
        &[
            (json!({ "a": "1" }), "/a", Keyword::Type),
            (json!({ "x-b": 1 }), "/x-b", Keyword::Type),
            (json!({ "d/e": 1 }), "/d~1e", Keyword::Type),
        ],
    );
    claim(
        &json!({ "properties": { "a": {} }, "additionalProperties": false }),
        &[json!({ "a": 1 })],
        &[(json!({ "b": 1 }), "/b", Keyword::AdditionalProperties)],
    );
    claim(
        &json!({ "required": ["a", "b"] }),
        &[json!({ "a": 1, "b": null })],
        &[(json!({ "a": 1 }), "", Keyword::Required)],
    );
    claim(
        &json!({ "dependentRequired": { "a": ["b"] } }),
        &[json!({}), json!({ "a": 1, "b": 2 })],
        &[(json!({ "a": 1 }), "", Keyword::DependentRequired)],
    );
    claim(
        &json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
        &[json!({ "b": 1 })],
        &[(json!({ "a": 1 }), "", Keyword::Required)],
    );
    claim(
        &json!({ "propertyNames": { "maxLength": 2 } }),
        &[json!({ "ab": 1 })],
        &[(json!({ "abc": 1 }), "/abc", Keyword::MaxLength)],
    );
    claim(
        &json!({ "minProperties": 1, "maxProperties": 1 }),
        &[json!({ "a": 1 })],
        &[
            (json!({}), "", Keyword::MinProperties),
            (json!({ "a": 1, "b": 1 }), "", Keyword::MaxProperties),
        ],
    );
}

#[test]
fn branches_agree_exclude_and_depend() {
    claim(
        &json!({ "allOf": [{ "minimum": 1 }, { "maximum": 2 }] }),
        &[json!(1)],
        &[(json!(3), "", Keyword::Maximum)],
    );
    claim(
        &json!({ "anyOf": [{ "type": "integer" }, { "minLength": 2 }] }),
        &[json!(1), json!("ab")],
        &[(json!("a"), "", Keyword::MinLength)],
    );
    claim(
        &json!({ "oneOf": [{ "type": "integer" }, { "minimum": 2 }] }),
        &[json!(1), json!(2.5)],
        &[(json!(3), "", Keyword::OneOf)],
    );
    claim(
        &json!({ "not": { "type": "string" } }),
        &[json!(1)],
        &[(json!("a"), "", Keyword::Not)],
    );
    claim(
        &json!({ "if": { "type": "string" }, "then": { "minLength": 2 }, "else": { "minimum": 2 } }),
        &[json!("ab"), json!(2)],
        &[
            (json!("a"), "", Keyword::MinLength),
            (json!(1), "", Keyword::Minimum),
        ],
    );
}

#[test]
fn references_lead_to_every_name_of_a_schema() {
    claim(
        &json!({
            "$id": "https://example.com/root",
            "$defs": {
                "a b": { "type": "integer" },
                "named": { "$anchor": "here", "type": "string" },
                "other": { "$id": "other", "$defs": { "x": { "type": "boolean" } } }
            },
            "properties": {
                "pointer": { "$ref": "#/$defs/a%20b" },
                "anchor": { "$ref": "#here", "maxLength": 2 },
                "embedded": { "$ref": "other#/$defs/x" },
                "root": { "$ref": "#" }
            }
        }),
        &[json!({ "pointer": 1, "anchor": "ab", "embedded": true, "root": { "pointer": 2 } })],
        &[
            (json!({ "pointer": "1" }), "/pointer", Keyword::Type),
            (json!({ "anchor": "abc" }), "/anchor", Keyword::MaxLength),
            (json!({ "embedded": 1 }), "/embedded", Keyword::Type),
            (
                json!({ "root": { "root": { "pointer": null } } }),
                "/root/root/pointer",
                Keyword::Type,
            ),
        ],
    );
    claim(
        &json!({ "properties": { "schema": { "$ref": "https://json-schema.org/draft/2020-12/schema" } } }),
        &[json!({ "schema": { "type": "object" } })],
        &[(
            json!({ "schema": { "type": "thing" } }),
            "/schema",
            Keyword::Reference,
        )],
    );
}

#[test]
fn dynamic_references_reach_the_outermost_anchor() {
    let tree = json!({
        "$id": "https://example.com/tree",
        "$dynamicAnchor": "node",
        "properties": { "children": { "items": { "$dynamicRef": "#node" } } }
    });
    claim(
        &json!({
            "$id": "https://example.com/strict",
            "$dynamicAnchor": "node",
            "$ref": "tree",
            "required": ["name"],
            "$defs": { "tree": tree }
        }),
        &[json!({ "name": 1, "children": [{ "name": 2 }] })],
        &[(
            json!({ "name": 1, "children": [{}] }),
            "/children/0",
            Keyword::Required,
        )],
    );
}

#[test]
fn what_nothing_has_looked_at_is_ruled_last() {
    claim(
        &json!({
            "allOf": [{ "properties": { "a": true } }],
            "anyOf": [{ "properties": { "b": { "const": 1 } }, "required": ["b"] }, true],
            "unevaluatedProperties": false
        }),
        &[json!({ "a": 1 }), json!({ "a": 1, "b": 1 })],
        &[
            (json!({ "b": 2 }), "/b", Keyword::UnevaluatedProperties),
            (json!({ "c": 1 }), "/c", Keyword::UnevaluatedProperties),
        ],
    );
    claim(
        &json!({ "prefixItems": [true], "contains": { "type": "string" }, "unevaluatedItems": { "const": 0 } }),
        &[json!([1, "a", 0])],
        &[(json!([1, "a", 1]), "/2", Keyword::Const)],
    );
    claim(
        &json!({ "prefixItems": [true], "unevaluatedItems": false }),
        &[json!([1])],
        &[(json!([1, 2]), "/1", Keyword::UnevaluatedItems)],
    );
}

#[test]
fn draft_07_is_read_as_draft_07() {
    let draft = "http://json-schema.org/draft-07/schema#";
    claim(
        &json!({
            "$schema": draft,
            "definitions": { "n": { "$id": "#number", "type": "number" } },
            "properties": {
                "pair": { "items": [{ "$ref": "#/definitions/n" }], "additionalItems": false },
                "alone": { "$ref": "#number", "maximum": 1 }
            },
            "dependencies": { "a": ["b"], "c": { "required": ["d"] } }
        }),
        // In this dialect keywords beside `$ref` are ignored.
        &[
            json!({ "pair": [1], "alone": 5 }),
            json!({ "a": 1, "b": 1 }),
        ],
        &[
            (json!({ "pair": ["1"] }), "/pair/0", Keyword::Type),
            (json!({ "pair": [1, 2] }), "/pair/1", Keyword::Never),
            (json!({ "a": 1 }), "", Keyword::DependentRequired),
            (json!({ "c": 1 }), "", Keyword::Required),
        ],
    );
    claim(
        &json!({ "$schema": draft, "prefixItems": [false] }),
        &[json!([1])],
        &[],
    );
}
