//! Merges several object schemas into one, for APIs without combining keywords.

use serde_json::{Map, Value};

/// How the schemas are combined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Combined {
    /// All of them apply: `allOf`.
    All,
    /// One of them applies: `anyOf`, `oneOf`.
    Any,
}

/// Merges subschemas into the schema that contains them. For alternatives, only properties that all
/// of them require are required. A property that several of them have becomes a choice between its
/// schemas.
pub(super) fn merge(into: &mut Map<String, Value>, parts: &[Value], combined: Combined) {
    let mut common: Option<Vec<String>> = None;
    for part in parts.iter().filter_map(Value::as_object) {
        let required = names(part.get("required"));
        common = Some(match (common, combined) {
            (None, _) => required,
            (Some(before), Combined::Any) => before
                .into_iter()
                .filter(|name| required.contains(name))
                .collect(),
            (Some(mut before), Combined::All) => {
                before.extend(required);
                before
            }
        });
        for (name, value) in part {
            match name.as_str() {
                "properties" => properties(into, value, combined),
                "required" => {}
                "description" | "title" if into.contains_key(name) => {}
                // A constraint of one alternative need not apply to the others.
                _ if combined == Combined::Any && name != "type" => {}
                _ => {
                    into.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
        }
    }
    let mut required = names(into.get("required"));
    for name in common.unwrap_or_default() {
        if !required.contains(&name) {
            required.push(name);
        }
    }
    if !required.is_empty() {
        into.insert("required".to_owned(), required.into());
    }
}

fn properties(into: &mut Map<String, Value>, more: &Value, combined: Combined) {
    let Some(more) = more.as_object() else {
        return;
    };
    let all = into
        .entry("properties")
        .or_insert_with(|| Value::Object(Map::new()));
    let Some(all) = all.as_object_mut() else {
        return;
    };
    for (name, schema) in more {
        match all.get_mut(name) {
            None => {
                all.insert(name.clone(), schema.clone());
            }
            Some(before) if before == schema => {}
            Some(before) => either(before, schema, combined),
        }
    }
}

fn either(before: &mut Value, schema: &Value, combined: Combined) {
    let keyword = match combined {
        Combined::All => "allOf",
        Combined::Any => "anyOf",
    };
    let is_choice = before.as_object().is_some_and(|before| before.len() == 1);
    if let Some(Value::Array(choices)) = before.get_mut(keyword).filter(|_| is_choice) {
        if !choices.contains(schema) {
            choices.push(schema.clone());
        }
        return;
    }
    *before = serde_json::json!({keyword: [before.take(), schema]});
}

pub(super) fn names(required: Option<&Value>) -> Vec<String> {
    let names = required.and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}
