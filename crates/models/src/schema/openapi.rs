//! Converts JSON Schema to the OpenAPI 3.0 `Schema` that Gemini accepts.
//!
//! Constraints without a keyword there are added to the description, where the model can still read them.

use serde_json::{Map, Number, Value, json};

use super::merge::{Combined, merge};
use super::narrow::Work;
use super::undo::Undo;

/// At most 200 characters of a constraint are added to a description, so that they do not hide the rest.
const MAX_HINT: usize = 200;

/// Rewrites the keywords of one schema.
pub(super) fn convert(work: &mut Work<'_>, schema: &mut Map<String, Value>, at: &str) {
    if let Some(Value::Array(parts)) = schema.shift_remove("allOf") {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| Value::Object(work.expanded(part)))
            .collect();
        merge(schema, &parts, Combined::All);
        work.note(at, "`allOf` merged into one schema");
    }
    if let Some(choices) = schema.shift_remove("oneOf") {
        work.note(at, "`oneOf` written as `anyOf`");
        schema.entry("anyOf").or_insert(choices);
    }
    if let Some(value) = schema.shift_remove("const") {
        schema.insert("enum".to_owned(), json!([value]));
    }
    nullable_choice(schema);
    kinds(schema);
    bound(work, schema, at, "exclusiveMinimum", "minimum", 1);
    bound(work, schema, at, "exclusiveMaximum", "maximum", -1);
    choices(work, schema, at);
    format(schema);
    let keywords = work.dialect.keywords.unwrap_or_default();
    let unknown: Vec<_> = schema
        .keys()
        .filter(|keyword| !keywords.contains(&keyword.as_str()))
        .cloned()
        .collect();
    for keyword in unknown {
        let value = schema.shift_remove(&keyword).unwrap_or_default();
        // Models are never asked for additional properties here anyway.
        if keyword == "additionalProperties" && !value.is_object() {
            continue;
        }
        hint(schema, &keyword, &value);
        work.note(at, format!("`{keyword}` moved to the description"));
    }
}

/// The last step, after the parts of a schema were rewritten: converts the type to OpenAPI.
pub(super) fn finish(mut schema: Map<String, Value>, undo: Undo, is_root: bool) -> (Value, Undo) {
    let kind = schema
        .get("type")
        .and_then(Value::as_str)
        .map(str::to_owned);
    let kind = kind.or_else(|| inferred(&schema).map(str::to_owned));
    let description = schema.get("description").and_then(Value::as_str);
    let is_empty = |keyword: &str| {
        let inside = schema.get(keyword).and_then(Value::as_object);
        inside.is_none_or(Map::is_empty)
    };
    match kind.as_deref() {
        Some("object") if is_empty("properties") && !is_root => {
            return json_text(description.unwrap_or_default());
        }
        None if !schema.contains_key("anyOf") => {
            return json_text(description.unwrap_or_default());
        }
        _ => {}
    }
    let mut undo = undo;
    if kind.as_deref() == Some("array") && !schema.contains_key("items") {
        let (items, inside) = json_text("");
        schema.insert("items".to_owned(), items);
        undo.items = Some(Box::new(inside));
    }
    if let Some(kind) = kind {
        schema.insert("type".to_owned(), kind.to_ascii_uppercase().into());
    }
    (Value::Object(schema), undo)
}

/// A string that contains JSON. It replaces a schema that allows any value.
pub(super) fn json_text(description: &str) -> (Value, Undo) {
    let description = format!("{description} Any JSON value, written as JSON text.");
    let schema = json!({"type": "STRING", "description": description.trim_start()});
    let undo = Undo {
        is_json_text: true,
        ..Undo::default()
    };
    (schema, undo)
}

/// Replaces `anyOf` with `null` by `nullable`.
fn nullable_choice(schema: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = schema.get_mut("anyOf") else {
        return;
    };
    let before = choices.len();
    choices.retain(|choice| choice.get("type").and_then(Value::as_str) != Some("null"));
    let has_null = choices.len() < before;
    if choices.len() == 1 {
        let only = choices.pop();
        schema.shift_remove("anyOf");
        for (name, value) in only
            .as_ref()
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            schema.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    if has_null {
        schema.insert("nullable".to_owned(), true.into());
    }
}

/// Replaces a list of types by one type with `nullable`, or by a choice.
fn kinds(schema: &mut Map<String, Value>) {
    let Some(Value::Array(kinds)) = schema.get("type") else {
        return;
    };
    let kinds: Vec<_> = kinds
        .iter()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if kinds.iter().any(|kind| kind == "null") {
        schema.insert("nullable".to_owned(), true.into());
    }
    let others: Vec<_> = kinds.into_iter().filter(|kind| kind != "null").collect();
    match others.as_slice() {
        [one] => {
            schema.insert("type".to_owned(), one.as_str().into());
        }
        many => {
            let choices: Vec<_> = many.iter().map(|kind| json!({"type": kind})).collect();
            schema.shift_remove("type");
            schema.entry("anyOf").or_insert_with(|| choices.into());
        }
    }
}

/// Replaces an exclusive bound by the next integer, or for other numbers by the bound itself.
fn bound(
    work: &mut Work<'_>,
    schema: &mut Map<String, Value>,
    at: &str,
    exclusive: &str,
    inclusive: &str,
    step: i64,
) {
    let Some(value) = schema.get(exclusive).cloned() else {
        return;
    };
    let is_integer = schema.get("type").and_then(Value::as_str) == Some("integer");
    let next = value.as_i64().and_then(|value| value.checked_add(step));
    match (is_integer, next) {
        (true, Some(next)) => {
            schema.shift_remove(exclusive);
            schema.insert(inclusive.to_owned(), Value::Number(Number::from(next)));
        }
        _ if value.is_number() => {
            schema.shift_remove(exclusive);
            hint(schema, exclusive, &value);
            schema.entry(inclusive).or_insert(value);
            work.note(at, format!("`{exclusive}` written as `{inclusive}`"));
        }
        // A boolean of draft 4, which is added to the description.
        _ => {}
    }
}

/// Rewrites `enum`: only strings can be listed.
fn choices(work: &mut Work<'_>, schema: &mut Map<String, Value>, at: &str) {
    let Some(Value::Array(values)) = schema.get_mut("enum") else {
        return;
    };
    let before = values.len();
    values.retain(|value| !value.is_null());
    let has_null = values.len() < before;
    let is_text = !values.is_empty() && values.iter().all(Value::is_string);
    if has_null {
        schema.insert("nullable".to_owned(), true.into());
    }
    if is_text {
        schema.insert("type".to_owned(), "string".into());
    } else {
        let values = schema.shift_remove("enum").unwrap_or_default();
        let kind = values.get(0).and_then(kind);
        if let Some(kind) = kind {
            schema.entry("type").or_insert_with(|| kind.into());
        }
        hint(schema, "enum", &values);
        work.note(
            at,
            "`enum` of values that are not strings moved to the description",
        );
    }
}

fn format(schema: &mut Map<String, Value>) {
    let allowed: &[&str] = match schema.get("type").and_then(Value::as_str) {
        Some("string") => &["enum", "date-time"],
        Some("integer") => &["int32", "int64"],
        Some("number") => &["float", "double"],
        _ => &[],
    };
    let given = schema.get("format").and_then(Value::as_str);
    if given.is_some_and(|given| !allowed.contains(&given))
        && let Some(given) = schema.shift_remove("format")
    {
        // `format` is only a hint in JSON Schema too, so nothing is lost.
        hint(schema, "format", &given);
    }
}

/// The type of a schema that does not state one.
fn inferred(schema: &Map<String, Value>) -> Option<&'static str> {
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    if has(&["anyOf"]) {
        None
    } else if has(&["properties", "minProperties", "maxProperties"]) {
        Some("object")
    } else if has(&["items", "minItems", "maxItems"]) {
        Some("array")
    } else if has(&["enum", "minLength", "maxLength", "pattern"]) {
        Some("string")
    } else if has(&["minimum", "maximum"]) {
        Some("number")
    } else {
        None
    }
}

fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::Bool(_) => Some("boolean"),
        Value::Number(number) if number.is_f64() => Some("number"),
        Value::Number(_) => Some("integer"),
        _ => None,
    }
}

/// Adds a constraint to the description that the schema cannot express.
fn hint(schema: &mut Map<String, Value>, keyword: &str, value: &Value) {
    let text = value.to_string();
    if text.chars().count() > MAX_HINT {
        return;
    }
    let before = schema.get("description").and_then(Value::as_str);
    let before = before.unwrap_or_default();
    let description = format!("{before} ({keyword}: {text})");
    schema.insert("description".to_owned(), description.trim_start().into());
}
