//! Checks the schemas of tool arguments against what the APIs accept.

use serde_json::Value;

/// OpenAI and Anthropic: an object at the root, without combining keywords there, and no references.
#[track_caller]
pub(super) fn json_schema(schema: &Value, place: &str, not_at_root: &[&str]) {
    assert_eq!(schema["type"], "object", "{place}: {schema}");
    for keyword in not_at_root {
        assert!(
            schema.get(keyword).is_none(),
            "{place}: `{keyword}` at the root: {schema}"
        );
    }
    complete(schema, place);
}

#[track_caller]
fn complete(schema: &Value, place: &str) {
    let Some(members) = schema.as_object() else {
        return;
    };
    assert!(
        !members.contains_key("$ref"),
        "{place}: a reference: {schema}"
    );
    if members.get("type").is_some_and(|kind| kind == "array") {
        assert!(
            members.contains_key("items"),
            "{place}: array schema missing items: {schema}"
        );
    }
    if members.get("type").is_some_and(|kind| kind == "object") {
        let properties = members.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or_else(|| panic!("{place}: no properties: {schema}"));
        for (name, schema) in properties {
            complete(schema, &format!("{place}/{name}"));
        }
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        for schema in members
            .get(keyword)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            complete(schema, &format!("{place}/{keyword}"));
        }
    }
    if let Some(items) = members.get("items") {
        complete(items, &format!("{place}/items"));
    }
}

/// The names of properties that Anthropic accepts.
#[track_caller]
pub(super) fn property_names(schema: &Value, place: &str) {
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let fits = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let is_name = !name.is_empty() && name.len() <= 64 && name.chars().all(fits);
        assert!(is_name, "{place}: property `{name}`");
        property_names(schema, &format!("{place}/{name}"));
    }
}

/// The `Schema` of Gemini.
#[track_caller]
pub(super) fn openapi(schema: &Value, place: &str) {
    const KEYWORDS: [&str; 22] = [
        "type",
        "format",
        "title",
        "description",
        "nullable",
        "enum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "minProperties",
        "maxProperties",
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "pattern",
        "example",
        "anyOf",
        "default",
        "propertyOrdering",
    ];
    const TYPES: [&str; 6] = ["STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT"];
    let members = schema.as_object();
    let members = members.unwrap_or_else(|| panic!("{place}: not a schema: {schema}"));
    for keyword in members.keys() {
        assert!(
            KEYWORDS.contains(&keyword.as_str()),
            "{place}: `{keyword}` in {schema}"
        );
    }
    let kind = members.get("type").and_then(Value::as_str);
    match kind {
        Some(kind) => assert!(TYPES.contains(&kind), "{place}: type `{kind}`"),
        None => assert!(
            members.contains_key("anyOf"),
            "{place}: no type in {schema}"
        ),
    }
    if let Some(values) = members.get("enum") {
        let is_text = values
            .as_array()
            .is_some_and(|all| all.iter().all(Value::is_string));
        assert!(
            is_text && kind == Some("STRING"),
            "{place}: enum in {schema}"
        );
    }
    if kind == Some("OBJECT") {
        let properties = schema["properties"].as_object();
        let has_some = properties.is_some_and(|properties| !properties.is_empty());
        assert!(
            has_some,
            "{place}: should be non-empty for OBJECT type: {schema}"
        );
    }
    if kind == Some("ARRAY") {
        assert!(
            members.contains_key("items"),
            "{place}: missing items: {schema}"
        );
    }
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        let first = name.chars().next().unwrap_or('-');
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = (first.is_ascii_alphabetic() || first == '_') && name.chars().all(fits);
        assert!(is_name && name.len() <= 64, "{place}: property `{name}`");
        openapi(schema, &format!("{place}/{name}"));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        assert!(
            schema["properties"].get(name).is_some(),
            "{place}: requires `{name}`: {schema}"
        );
    }
    for schema in schema["anyOf"].as_array().into_iter().flatten() {
        openapi(schema, &format!("{place}/anyOf"));
    }
    if let Some(items) = members.get("items") {
        openapi(items, &format!("{place}/items"));
    }
}
