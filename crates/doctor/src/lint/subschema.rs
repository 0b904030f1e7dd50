//! Walks through a schema and checks each subschema.

use serde_json::Value;

use super::tool::Place;
use crate::{finding::Finding, table::schema};

/// How many levels of nested objects are accepted.
const MAX_LEVELS: usize = 5;

/// How many subschemas are checked, and how deep: limits for malicious schemas.
const MAX_SUBSCHEMAS: usize = 20_000;
const MAX_NESTING: usize = 128;

/// Formats that validators know: those of JSON Schema, and those of OpenAPI, which Ajv knows too.
const FORMATS: [&str; 33] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
    "url",
    "byte",
    "binary",
    "password",
    "int32",
    "int64",
    "float",
    "double",
    "iso-time",
    "iso-date-time",
    "json-pointer-uri-fragment",
    "ip",
    "base64",
    "enum",
];

/// Keywords that providers reject or drop.
const UNSUPPORTED: [&str; 9] = [
    "patternProperties",
    "if",
    "not",
    "dependentSchemas",
    "dependentRequired",
    "dependencies",
    "propertyNames",
    "unevaluatedProperties",
    "contains",
];

/// Keywords, one of which says what kind of value a property has.
const TELLING: [&str; 8] = [
    "type",
    "enum",
    "const",
    "$ref",
    "oneOf",
    "anyOf",
    "allOf",
    "$dynamicRef",
];

/// A schema inside another.
pub(super) struct Sub<'s> {
    pub(super) schema: &'s Value,
    /// Its JSON pointer.
    pub(super) pointer: String,
    role: Role,
    /// In how many objects or arrays its values are nested.
    level: usize,
}

/// The place of a schema in the schema around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Root,
    Property,
    Items,
    Other,
}

/// Calls `see` with each schema, the outer ones first.
pub(super) fn walk<'s>(root: &'s Value, see: &mut impl FnMut(&Sub<'s>)) {
    let mut left = vec![(
        Sub {
            schema: root,
            pointer: String::new(),
            role: Role::Root,
            level: 0,
        },
        0,
    )];
    let mut count = 0;
    while let Some((sub, nesting)) = left.pop() {
        count += 1;
        if count > MAX_SUBSCHEMAS || nesting > MAX_NESTING {
            return;
        }
        see(&sub);
        let mut inside = children(&sub);
        inside.reverse();
        left.extend(inside.into_iter().map(|sub| (sub, nesting + 1)));
    }
}

fn children<'s>(sub: &Sub<'s>) -> Vec<Sub<'s>> {
    let members = sub.schema.as_object();
    let keywords = members.into_iter().flatten();
    keywords
        .flat_map(|(keyword, value)| inside(sub, keyword, value))
        .collect()
}

/// The schemas in a keyword.
fn inside<'s>(sub: &Sub<'s>, keyword: &str, value: &'s Value) -> Vec<Sub<'s>> {
    let at = |schema, path: &str, role, level| Sub {
        schema,
        pointer: format!("{}/{path}", sub.pointer),
        role,
        level,
    };
    match (keyword, value) {
        ("properties", Value::Object(properties)) => {
            let each = properties.iter().map(|(name, schema)| {
                let path = format!("properties/{}", escaped(name));
                at(schema, &path, Role::Property, sub.level + 1)
            });
            each.collect()
        }
        (
            "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(map),
        ) => {
            let each = map.iter().map(|(name, schema)| {
                let path = format!("{keyword}/{}", escaped(name));
                at(schema, &path, Role::Other, sub.level)
            });
            each.collect()
        }
        ("oneOf" | "anyOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
            let each = list.iter().enumerate().map(|(index, schema)| {
                at(
                    schema,
                    &format!("{keyword}/{index}"),
                    Role::Other,
                    sub.level,
                )
            });
            each.collect()
        }
        ("items", schema) => vec![at(schema, "items", Role::Items, sub.level)],
        ("additionalProperties", Value::Object(_)) => {
            vec![at(value, keyword, Role::Other, sub.level + 1)]
        }
        ("contains" | "not" | "if" | "then" | "else" | "propertyNames", schema) => {
            vec![at(schema, keyword, Role::Other, sub.level)]
        }
        _ => Vec::new(),
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Checks one schema, without the schemas inside it.
pub(super) fn look(place: &Place<'_>, sub: &Sub<'_>) {
    let found = |check, said: &str| {
        let finding = Finding::of(check, said);
        place.found(finding, &sub.pointer);
    };
    let Some(members) = sub.schema.as_object() else {
        if sub.schema.is_boolean() && matches!(sub.role, Role::Property | Role::Items) {
            found(&schema::BOOLEAN, "a schema is `true` or `false`");
        }
        return;
    };
    let has = |keyword: &str| members.contains_key(keyword);
    if sub.schema["type"].is_array() {
        found(&schema::TYPE_LIST, "`type` is a list");
    }
    if sub.schema["type"] == "array" && !has("items") && !has("prefixItems") {
        found(&schema::ITEMS, "an array does not say what its items are");
    }
    if has("prefixItems") || sub.schema["items"].is_array() {
        found(&schema::TUPLE, "an array has a schema for each place");
    }
    if has("$ref") {
        found(&schema::REFERENCE, "there is a `$ref`");
    }
    if sub.role == Role::Property && !TELLING.iter().any(|keyword| has(keyword)) {
        found(&schema::UNTYPED, "a property does not say what it is");
    }
    let values = sub.schema["enum"].as_array().into_iter().flatten();
    if values
        .clone()
        .any(|value| value.as_str().is_none_or(str::is_empty))
    {
        found(
            &schema::ENUM,
            "`enum` has values that are not text, or empty",
        );
    }
    if let Some(format) = sub.schema["format"].as_str()
        && !FORMATS.contains(&format)
    {
        found(
            &schema::FORMAT,
            &format!("the format `{format}` is not known"),
        );
    }
    // At the root, another check reports some of these as not allowed there.
    let is_root = sub.role == Role::Root;
    for keyword in UNSUPPORTED {
        if has(keyword) && !(is_root && keyword == "not") {
            found(
                &schema::PATTERN_PROPERTIES,
                &format!("there is `{keyword}`"),
            );
        }
    }
    look_at_properties(sub, &found);
    if sub.level == MAX_LEVELS + 1 && sub.role == Role::Property {
        let said = format!("objects are nested more than {MAX_LEVELS} levels deep");
        found(&schema::DEPTH, &said);
    }
}

fn look_at_properties(sub: &Sub<'_>, found: &impl Fn(&'static crate::check::Check, &str)) {
    let properties = sub.schema["properties"].as_object();
    let names = properties
        .into_iter()
        .flat_map(|properties| properties.keys());
    for name in names {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
        let is_long = name.chars().count() > 64;
        if name.is_empty() || is_long || !name.chars().all(is_plain) {
            found(
                &schema::PROPERTY_NAME,
                &format!("the property {name:?} has an odd name"),
            );
        }
    }
    let required = sub.schema["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        let is_there = properties.is_some_and(|properties| properties.contains_key(name));
        // In a union, the properties may be in the schema around it.
        let is_alone = sub.schema.get("type").is_some() || properties.is_some();
        if !is_there && is_alone && sub.schema.get("$ref").is_none() {
            found(
                &schema::REQUIRED,
                &format!("{name:?} is required, but there is no such property"),
            );
        }
    }
}
