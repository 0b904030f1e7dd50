#![doc = include_str!("../docs/suffices.md")]

mod probe;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::number::Num;
use crate::schema::Schema;

/// The bounds that schemars adds for the width of an integer: the least and the greatest value.
const WIDTHS: [(Option<i128>, Option<i128>); 6] = [
    (None, None),
    (Some(0), None),
    (Some(0), Some(u8::MAX as i128)),
    (Some(0), Some(u16::MAX as i128)),
    (Some(i8::MIN as i128), Some(i8::MAX as i128)),
    (Some(i16::MIN as i128), Some(i16::MAX as i128)),
];

/// Whether deserializing a type enforces everything in the schema that was derived from it, judged by the schema's
/// keywords alone.
///
/// If so, deserializing can replace a check. The function assumes that the schema was *derived* from
/// the type: an attribute that narrows a field without narrowing its type (a `range` from 0 on an
/// `i32`, an `enum` on a `String`, a hand-written `JsonSchema`) can look the same as a narrower
/// type. If the type is known, use [`serde_enforces`], which tries values.
///
/// Returns true for: `type`, `properties`, `required`, `items`, schemas in `additionalProperties`, `enum`,
/// `const`, `oneOf`, `anyOf`, local `$ref`s, the bounds of Rust's integers, and keywords that no
/// check uses. Returns false for everything else, including `additionalProperties: false`.
pub fn serde_suffices(schema: &Value) -> bool {
    match schema {
        Value::Bool(is_open) => *is_open,
        Value::Object(keywords) => {
            let dialect = keywords
                .get("$schema")
                .and_then(Value::as_str)
                .map(Dialect::named);
            dialect.is_none_or(|dialect| dialect == Some(Dialect::Draft202012))
                && has_width_bounds(keywords)
                && Dialect::Draft202012
                    .keywords(keywords)
                    .all(|(keyword, value, form)| {
                        form.admits(value)
                            && is_enforced(keyword, value)
                            && form.subschemas(value).all(serde_suffices)
                    })
        }
        _ => false,
    }
}

/// Whether deserializing a `T` enforces everything in a schema. The function finds out by trying: it deserializes
/// values that each break one rule of the schema, and returns true if `T` rejects them all.
///
/// Call it when a tool is registered; it takes some microseconds for each rule. It returns
/// false at once for a schema with a keyword that no Rust type can express (`pattern`,
/// `multipleOf`, `not`), and for a schema for which no valid value is found.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use turnbuckle_schema::{arguments_schema, serde_enforces};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Page { number: u32 }
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Half { #[schemars(range(min = 0))] number: i32 }
///
/// assert!(serde_enforces::<Page>(&arguments_schema::<Page>()?.into()));
/// assert!(!serde_enforces::<Half>(&arguments_schema::<Half>()?.into()));
/// # Ok::<(), turnbuckle_schema::ArgumentsError>(())
/// ```
pub fn serde_enforces<T: DeserializeOwned>(schema: &Value) -> bool {
    let accepts = |value: &Value| serde_json::from_str::<T>(&value.to_string()).is_ok();
    Schema::compile_without_patterns(schema)
        .is_ok_and(|schema| probe::Prober::new(&schema, &accepts).proves())
}

fn is_enforced(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" | "properties" | "required" | "items" | "enum" | "const" | "oneOf" | "anyOf"
        | "minimum" | "maximum" | "$schema" | "$defs" | "format" => true,
        "additionalProperties" => value != &Value::Bool(false),
        "$ref" => value
            .as_str()
            .is_some_and(|reference| reference.starts_with('#')),
        _ => false,
    }
}

fn has_width_bounds(keywords: &Map<String, Value>) -> bool {
    let bound = |keyword: &str| match keywords.get(keyword) {
        None => Some(None),
        Some(value) => match value.as_number().map(Num::of) {
            Some(Num::Int(bound)) => Some(Some(bound)),
            _ => None,
        },
    };
    let (Some(least), Some(most)) = (bound("minimum"), bound("maximum")) else {
        return false;
    };
    if (least, most) == (None, None) {
        return true;
    }
    let is_integer = match keywords.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind == "integer" || kind == "null"),
        Some(kind) => kind == "integer",
        None => false,
    };
    is_integer && WIDTHS.contains(&(least, most))
}
