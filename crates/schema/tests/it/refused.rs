//! Documents that cannot be used as schemas, and the error messages for them.

use serde_json::{Value, json};
use turnbuckle_schema::{Schema, SchemaError};

#[track_caller]
fn refused(document: &Value, message: &str) {
    match Schema::compile(document) {
        Ok(_) => panic!("{document} was accepted"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

// rule: J11
#[test]
fn a_dialect_we_do_not_know_is_named() {
    refused(
        &json!({ "$schema": "http://json-schema.org/draft-04/schema#" }),
        "the schema declares the dialect `http://json-schema.org/draft-04/schema#`, which is not supported; use \
         2020-12 (the default) or draft-07",
    );
}

// rule: J12
#[test]
fn nothing_is_ever_fetched() {
    refused(
        &json!({ "properties": { "a": { "$ref": "https://example.com/a.json" } } }),
        "the reference to `https://example.com/a.json` at `/properties/a` of the schema leads outside the document; \
         nothing is fetched, so put it under `$defs`",
    );
    let file = Schema::compile(&json!({ "$ref": "file:///etc/passwd" }));
    assert!(matches!(file, Err(SchemaError::ExternalReference { .. })));
}

#[test]
fn a_reference_to_nothing_is_named() {
    refused(
        &json!({ "items": { "$ref": "#/$defs/missing" } }),
        "`#/$defs/missing` at `/items` of the schema points to nothing in the document",
    );
    for reference in ["#missing", "#/items/0/x", "#/$defs/01", "#/%ff"] {
        let document = json!({ "$ref": reference, "$defs": {} });
        let refused = Schema::compile(&document);
        assert!(
            matches!(refused, Err(SchemaError::UnknownReference { .. })),
            "{reference}"
        );
    }
}

#[test]
fn a_keyword_of_the_wrong_form_is_named_with_the_right_one() {
    refused(
        &json!({ "properties": { "a/b": { "minLength": -1 } } }),
        "`minLength` at `/properties/a~1b` of the schema must be an integer that is not negative",
    );
    refused(
        &json!({ "type": "float" }),
        "`type` at the root of the schema must be null, boolean, object, array, number, string or integer, or a list of \
         these",
    );
    refused(
        &json!({ "items": 5 }),
        "`/items` of the schema is an integer; a schema is an object or a boolean",
    );
    refused(
        &json!([]),
        "the root of the schema is an array; a schema is an object or a boolean",
    );
    for document in [
        json!({ "required": "a" }),
        json!({ "anyOf": [] }),
        json!({ "multipleOf": 0 }),
        json!({ "enum": 1 }),
        json!({ "$anchor": "1a" }),
        json!({ "$id": "#a" }),
        json!({ "$ref": 1 }),
        json!({ "uniqueItems": "yes" }),
        json!({ "dependentRequired": { "a": "b" } }),
    ] {
        let refused = Schema::compile(&document);
        assert!(
            matches!(refused, Err(SchemaError::Keyword { .. })),
            "{document}"
        );
    }
}

#[test]
fn annotations_of_any_form_are_let_through() {
    let document = json!({ "title": null, "description": 5, "examples": "one", "x-own": [], "deprecated": "soon" });
    assert!(Schema::compile(&document).is_ok());
}

#[test]
fn two_schemas_of_one_name_are_refused() {
    refused(
        &json!({ "$defs": { "a": { "$anchor": "x" }, "b": { "$anchor": "x" } } }),
        "`x` at `/$defs/a` of the schema is already the name of another schema",
    );
    let twice = json!({ "$defs": { "a": { "$id": "urn:x" }, "b": { "$id": "urn:x" } } });
    assert!(matches!(
        Schema::compile(&twice),
        Err(SchemaError::DuplicateName { .. })
    ));
}

#[test]
fn a_pattern_that_cannot_run_is_named_with_the_reason() {
    refused(
        &json!({ "pattern": "(a" }),
        "the pattern `(a` at the root of the schema cannot be used: a `(` is not closed",
    );
    let named = json!({ "patternProperties": { "[": true } });
    assert!(matches!(
        Schema::compile(&named),
        Err(SchemaError::Pattern { .. })
    ));
}

#[test]
fn a_circle_is_named() {
    refused(
        &json!({ "properties": { "a": { "allOf": [{ "$ref": "#/properties/a" }] } } }),
        "the reference at `/properties/a/allOf/0` of the schema leads back to itself, so checking would never end",
    );
}
