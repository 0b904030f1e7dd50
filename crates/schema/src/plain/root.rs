//! The root of an arguments schema, which must have the type `object` and declare it.

use serde_json::{Map, Value};

use super::strip::remove_null;
use crate::dialect::Dialect;
use crate::kind::Kinds;

/// The schema, if it describes an object; otherwise the kind of value that it describes.
pub(super) fn object(mut schema: Value) -> Result<Map<String, Value>, String> {
    remove_null(&mut schema);
    let keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(true) => Map::new(),
        _ => return Err("nothing".to_owned()),
    };
    match keywords.get("type").map(Kinds::of_type) {
        Some(Kinds::OBJECT) => {}
        Some(other) => return Err(other.in_words()),
        None => branches_are_objects(&keywords)?,
    }
    Ok(announced(keywords))
}

/// Checks that a root without `type` can only be an object: because all its branches are objects, or because it
/// asserts nothing.
fn branches_are_objects(keywords: &Map<String, Value>) -> Result<(), String> {
    for union in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = keywords.get(union) else {
            continue;
        };
        for branch in branches {
            let kinds = branch.get("type").map_or(Kinds::ALL, Kinds::of_type);
            if kinds != Kinds::OBJECT {
                let words = if kinds == Kinds::ALL {
                    "anything".into()
                } else {
                    kinds.in_words()
                };
                return Err(format!("{words} in one of its alternatives"));
            }
        }
        return Ok(());
    }
    let asserting = Dialect::Draft202012
        .keywords(keywords)
        .map(|(keyword, _, _)| keyword);
    match asserting
        .filter(|keyword| *keyword != "$defs")
        .collect::<Vec<_>>()[..]
    {
        [] => Ok(()),
        _ => Err("something else".to_owned()),
    }
}

/// Puts `type` first after the description, and writes `properties` even if it is empty: some
/// clients require both.
fn announced(keywords: Map<String, Value>) -> Map<String, Value> {
    let mut announced = Map::new();
    for early in ["title", "description"] {
        if let Some(value) = keywords.get(early) {
            announced.insert(early.to_owned(), value.clone());
        }
    }
    announced.insert("type".to_owned(), "object".into());
    let is_composed = ["oneOf", "anyOf", "allOf", "$ref", "additionalProperties"]
        .iter()
        .any(|keyword| keywords.contains_key(*keyword));
    if !is_composed {
        announced.insert("properties".to_owned(), Map::new().into());
    }
    for (keyword, value) in keywords {
        announced.insert(keyword, value);
    }
    announced
}
