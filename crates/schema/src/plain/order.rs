//! Sorts keywords in the order in which people read them: the kind of the value first, then its contents, and
//! definitions at the end.

use std::mem;

use serde_json::{Map, Value};

const FIRST: [&str; 7] = [
    "$id",
    "$schema",
    "title",
    "description",
    "type",
    "format",
    "properties",
];
const LAST: [&str; 2] = ["$defs", "definitions"];

/// Sorts the keywords of a schema and of its subschemas. Values are moved, not copied: a server does this
/// for each of its tools when it starts.
pub(super) fn order(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(order),
        Value::Object(keywords) => {
            if !keywords.keys().is_sorted_by_key(|keyword| place(keyword)) {
                *keywords = ordered(mem::take(keywords));
            }
            for (keyword, value) in keywords {
                order_inside(keyword, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn ordered(keywords: Map<String, Value>) -> Map<String, Value> {
    let mut keywords: Vec<_> = keywords.into_iter().collect();
    keywords.sort_by_key(|(keyword, _)| place(keyword));
    keywords.into_iter().collect()
}

fn place(keyword: &str) -> usize {
    let at = |row: &[&str]| row.iter().position(|other| *other == keyword);
    match (at(&FIRST), at(&LAST)) {
        (Some(place), _) => place,
        (None, None) => FIRST.len(),
        (None, Some(place)) => FIRST.len() + 1 + place,
    }
}

fn order_inside(keyword: &str, value: &mut Value) {
    match (keyword, value) {
        // These are values and not schemas, even if they look like schemas.
        ("examples" | "default", _) => {}
        (custom, _) if custom.starts_with("x-") => {}
        // The names of properties stay in the order of the fields.
        (
            "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions",
            Value::Object(schemas),
        ) => schemas.values_mut().for_each(order),
        (_, schema) => order(schema),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_come_as_people_read_them_and_names_as_they_were_given() {
        let mut schema = json!({
            "$defs": {"b": {"type": "string", "title": "B"}, "a": {}},
            "required": ["z"],
            "properties": {
                "type": {"minimum": 1, "type": "integer", "description": "first"},
                "description": {"anyOf": [{"format": "f", "type": "string"}, true]},
            },
            "default": {"type": 1, "title": 2},
            "x-mine": {"type": 1, "title": 2},
            "type": "object",
        });
        order(&mut schema);
        let expected = concat!(
            r#"{"type":"object","properties":{"#,
            r#""type":{"description":"first","type":"integer","minimum":1},"#,
            r#""description":{"anyOf":[{"type":"string","format":"f"},true]}},"#,
            r#""required":["z"],"default":{"type":1,"title":2},"x-mine":{"type":1,"title":2},"#,
            r#""$defs":{"b":{"title":"B","type":"string"},"a":{}}}"#
        );
        assert_eq!(schema.to_string(), expected);
    }
}
