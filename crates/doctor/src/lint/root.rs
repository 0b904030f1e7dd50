//! Schemas as a whole, and the keywords at their root.

use serde_json::Value;
use turnbuckle::schema::{Schema, SchemaError};

use super::tool::Place;
use crate::{finding::Finding, table::schema};

/// Keywords that providers reject at the root.
const UNIONS: [&str; 5] = ["oneOf", "anyOf", "allOf", "enum", "not"];

pub(super) fn input(place: &Place<'_>, input: &Value) {
    if let Err(error) = Schema::compile(input) {
        let pointer = "/inputSchema";
        place.found(fault(&schema::INVALID, &error), pointer);
    }
    if input["type"] != "object" {
        let said = "the root of a schema does not say `\"type\": \"object\"`";
        place.found(Finding::of(&schema::ROOT_TYPE, said), "/inputSchema");
    }
    for union in UNIONS {
        if input.get(union).is_some() {
            let said = format!("there is `{union}` at the root of a schema");
            place.found(Finding::of(&schema::ROOT_UNION, said), "/inputSchema");
        }
    }
}

pub(super) fn output(place: &Place<'_>, tool: &Value, is_modern: bool) {
    let output = &tool["outputSchema"];
    if !output.is_object() {
        return;
    }
    if let Err(error) = Schema::compile(output) {
        place.found(fault(&schema::OUTPUT_INVALID, &error), "/outputSchema");
    }
    if !is_modern && output["type"] != "object" {
        let said = "the root of an output schema does not say `\"type\": \"object\"`";
        place.found(Finding::of(&schema::OUTPUT_ROOT, said), "/outputSchema");
    }
}

fn fault(otherwise: &'static crate::check::Check, error: &SchemaError) -> Finding {
    let said = error.to_string();
    match error {
        SchemaError::ExternalReference { .. } => Finding::of(&schema::EXTERNAL, said),
        SchemaError::Dialect { .. } => Finding::of(&schema::DIALECT, said),
        _ => Finding::of(otherwise, said),
    }
}
