//! The arguments of a tool in one line: `echo(message: string, loud?: boolean)`.

use serde_json::Value;

/// The signature of a tool.
pub(crate) fn of(name: &str, schema: &Value) -> String {
    format!("{name}({})", parameters(schema).join(", "))
}

/// The same with at most `most` parameters, and the number of those that are left out.
pub(crate) fn short(name: &str, schema: &Value, most: usize) -> String {
    let mut parameters = parameters(schema);
    if parameters.len() > most {
        let more = parameters.len() - most;
        parameters.truncate(most);
        parameters.push(format!("…{more} more"));
    }
    format!("{name}({})", parameters.join(", "))
}

/// `name: type`: the required parameters first, the others with a question mark.
fn parameters(schema: &Value) -> Vec<String> {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return Vec::new();
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let (mut first, last): (Vec<_>, Vec<_>) = properties
        .iter()
        .partition(|(name, _)| required.contains(&name.as_str()));
    first.extend(last);
    first
        .into_iter()
        .map(|(name, part)| {
            let mark = if required.contains(&name.as_str()) {
                ""
            } else {
                "?"
            };
            format!("{name}{mark}: {}", kind(schema, part, 0))
        })
        .collect()
}

/// How deep a type is written out; deeper parts are named by their kind.
const MAX_DEPTH: usize = 2;
/// How many choices are written out in a signature.
const MAX_CHOICES: usize = 4;
/// How many choices are written out where a tool is shown in full: more than a person chooses from.
const MAX_LISTED: usize = 500;

/// A type in a few characters.
pub(crate) fn kind(root: &Value, schema: &Value, depth: usize) -> String {
    kind_of(root, schema, depth, MAX_CHOICES)
}

/// A type with all of its choices.
pub(crate) fn whole_kind(root: &Value, schema: &Value) -> String {
    kind_of(root, schema, 0, MAX_LISTED)
}

fn kind_of(root: &Value, schema: &Value, depth: usize, most: usize) -> String {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or(reference);
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return match target {
            Some(target) if depth < MAX_DEPTH && !is_object(target) => {
                kind_of(root, target, depth + 1, most)
            }
            _ => name.to_owned(),
        };
    }
    if let Some(Value::Array(choices)) = schema.get("enum") {
        return choice(choices.iter().map(ToString::to_string).collect(), most);
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(parts)) = schema.get(keyword) {
            // A bare name would look like a value that can be typed.
            let (objects, others): (Vec<_>, Vec<_>) =
                parts.iter().partition(|part| is_object(part));
            let of = |part| variant_of(root, part, depth, most);
            let objects = choice(objects.into_iter().map(of).collect(), most);
            let others = others.into_iter().map(of);
            let objects = match &*objects {
                "" | "object" => objects,
                names => format!("object ({names})"),
            };
            let all = Some(objects).filter(|it| !it.is_empty()).into_iter();
            return choice(all.chain(others).collect(), most);
        }
    }
    if let Some(Value::Array(parts)) = schema.get("allOf")
        && schema.get("type").is_none()
    {
        // All parts apply, so any part that names its kind gives the kind of the whole.
        let kinds = parts
            .iter()
            .map(|part| kind_of(root, part, depth + 1, most));
        let kinds = kinds.filter(|kind| kind != "any");
        return kinds
            .reduce(|one, _| one)
            .unwrap_or_else(|| "any".to_owned());
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" && schema.get("prefixItems").is_some() => {
            let parts = schema["prefixItems"].as_array().into_iter().flatten();
            let parts = parts.map(|part| kind_of(root, part, depth + 1, most));
            format!("[{}]", parts.collect::<Vec<_>>().join(", "))
        }
        Some(Value::String(name)) if name == "object" && is_map(schema) && depth < MAX_DEPTH => {
            let values = kind_of(root, &schema["additionalProperties"], depth + 1, most);
            format!("{{name: {values}}}")
        }
        Some(Value::String(name)) if name == "array" => match schema.get("items") {
            Some(items) if depth < MAX_DEPTH => {
                let inner = kind_of(root, items, depth + 1, most);
                if inner.contains('|') {
                    format!("({inner})[]")
                } else {
                    format!("{inner}[]")
                }
            }
            _ => "array".to_owned(),
        },
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => choice(
            names
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            most,
        ),
        _ => "any".to_owned(),
    }
}

/// One of several variants: by its title, or else by the tag that distinguishes it.
pub(crate) fn variant(root: &Value, part: &Value, depth: usize) -> String {
    variant_of(root, part, depth, MAX_CHOICES)
}

fn variant_of(root: &Value, part: &Value, depth: usize, most: usize) -> String {
    if let Some(title) = part.get("title").and_then(Value::as_str) {
        return title.to_owned();
    }
    let tag = part
        .get("properties")
        .and_then(Value::as_object)
        .and_then(|properties| {
            properties
                .values()
                .find_map(|property| property.get("const"))
        })
        .and_then(Value::as_str);
    tag.map_or_else(|| kind_of(root, part, depth + 1, most), str::to_owned)
}

fn choice(mut choices: Vec<String>, most: usize) -> String {
    choices.dedup();
    if choices.len() > most {
        choices.truncate(most);
        choices.push("…".to_owned());
    }
    choices.join("|")
}

/// Whether a schema only describes an object with arbitrary names.
pub(crate) fn is_map(schema: &Value) -> bool {
    let values = schema.get("additionalProperties");
    schema.get("properties").is_none() && values.is_some_and(Value::is_object)
}

fn is_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
        || schema.get("properties").is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_signature_reads_like_code() {
        let schema = json!({
            "type": "object",
            "$defs": {
                "unit": {"type": "string", "enum": ["c", "f"]},
                "place": {"type": "object"}
            },
            "properties": {
                "nick": {"type": ["string", "null"]},
                "who": {"type": "string"},
                "unit": {"$ref": "#/$defs/unit"},
                "place": {"$ref": "#/$defs/place"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "target": {"oneOf": [
                    {"title": "City", "type": "object"},
                    {"type": "object", "properties": {"kind": {"const": "point"}}}
                ]},
                "thing": {}
            },
            "required": ["who", "target"]
        });
        assert_eq!(
            of("tricky", &schema),
            "tricky(who: string, target: object (City|point), nick?: string|null, unit?: \"c\"|\"f\", \
             place?: place, tags?: string[], thing?: any)"
        );
        assert_eq!(
            short("tricky", &schema, 2),
            "tricky(who: string, target: object (City|point), …5 more)"
        );
        assert_eq!(of("none", &json!({"type": "object"})), "none()");
    }

    #[test]
    fn a_list_of_choices_has_brackets_and_a_whole_type_has_all_choices() {
        let choices: Vec<String> = (0..30).map(|number| format!("colour-{number}")).collect();
        let schema = json!({"type": "array", "items": {"enum": ["a", "b", "c"]}});
        assert_eq!(kind(&schema, &schema, 0), r#"("a"|"b"|"c")[]"#);
        let schema = json!({"enum": choices});
        assert!(kind(&schema, &schema, 0).ends_with(r#""colour-3"|…"#));
        let whole = whole_kind(&schema, &schema);
        assert!(whole.ends_with(r#"|"colour-29""#), "{whole}");
    }

    #[test]
    fn a_schema_that_refers_to_itself_has_an_end() {
        let schema = json!({
            "$defs": {"loop": {"$ref": "#/$defs/loop"}, "list": {"type": "array", "items": {"$ref": "#/$defs/list"}}},
            "properties": {"a": {"$ref": "#/$defs/loop"}, "b": {"$ref": "#/$defs/list"}}
        });
        assert_eq!(of("x", &schema), "x(a?: loop, b?: list[])");
    }
}
