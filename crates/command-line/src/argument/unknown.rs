//! Argument names that are not in the schema. If the schema allows additional properties, they pass every
//! check, and are most likely misspelled.

use serde_json::Value;
use turnbuckle::schema::nearest_name;

use super::{Tree, place::schemas_at};

/// A name that is not in the schema.
#[derive(Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name as typed: `address.ctiy`.
    pub name: String,
    /// The name that was probably meant.
    pub nearest: Option<String>,
}

/// Every name that is not in the schema, wherever the schema has names and does not allow any others.
pub fn unknown(tree: &Tree, schema: &Value) -> Vec<Unknown> {
    let mut found = Vec::new();
    walk(tree, schema, &[], &mut found);
    found
}

fn walk(tree: &Tree, root: &Value, path: &[&str], found: &mut Vec<Unknown>) {
    match tree {
        Tree::Leaf(_) => {}
        Tree::List(items) => {
            for (index, item) in items.iter().enumerate() {
                let index = index.to_string();
                walk(item, root, &[path, &[index.as_str()]].concat(), found);
            }
        }
        Tree::Object(members) => {
            let schemas = schemas_at(root, path);
            let names = names(&schemas);
            for (name, value) in members {
                let known = names.as_ref().is_none_or(|names| names.contains(&&**name));
                if !known {
                    let free = names.iter().flatten().copied();
                    let free = free.filter(|near| members.iter().all(|(own, _)| own != near));
                    let near = nearest_name(name, free).map(str::to_owned);
                    let dotted = |name: &str| [path, &[name]].concat().join(".");
                    found.push(Unknown {
                        name: dotted(name),
                        nearest: near.map(|near| dotted(&near)),
                    });
                }
                walk(value, root, &[path, &[name.as_str()]].concat(), found);
            }
        }
    }
}

/// The names in the schemas; `None` if they allow any name, or do not restrict names.
fn names<'s>(schemas: &[&'s Value]) -> Option<Vec<&'s str>> {
    let is_open = |schema: &&Value| {
        let allows = |keyword| schema.get(keyword).is_some_and(|rule| rule != false);
        let elsewhere = |reference: &str| reference != "#" && !reference.starts_with("#/");
        let reference = schema.get("$ref").and_then(Value::as_str);
        allows("additionalProperties")
            || allows("unevaluatedProperties")
            || schema.get("patternProperties").is_some()
            || reference.is_some_and(elsewhere)
    };
    let mut named = schemas
        .iter()
        .filter_map(|schema| schema.get("properties")?.as_object())
        .peekable();
    named.peek()?;
    if schemas.iter().any(is_open) {
        return None;
    }
    Some(
        named
            .flat_map(|all| all.keys())
            .map(String::as_str)
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn misspelt_names_are_found_where_others_are_allowed_by_silence_alone() {
        let place = json!({ "type": "object", "properties": { "city": { "type": "string" } } });
        let schema = json!({ "type": "object", "properties": {
            "dry_run": { "type": "boolean" },
            "place": place,
            "stops": { "type": "array", "items": place },
            "labels": { "type": "object", "properties": { "team": {} }, "additionalProperties": true },
            "anything": { "type": "object" },
        }});
        for (json, wanted) in [
            (r#"{"dry_run":true,"place":{"city":"Oslo"}}"#, None),
            (r#"{"dryrun":true}"#, Some(("dryrun", Some("dry_run")))),
            (r#"{"dry_run":true,"dryrun":true}"#, Some(("dryrun", None))),
            (r#"{"colour":"red"}"#, Some(("colour", None))),
            (
                r#"{"place":{"ctiy":"x"}}"#,
                Some(("place.ctiy", Some("place.city"))),
            ),
            (
                r#"{"stops":[{"city":"a"},{"cty":"b"}]}"#,
                Some(("stops.1.cty", Some("stops.1.city"))),
            ),
            (r#"{"labels":{"teem":"x"}}"#, None),
            (r#"{"anything":{"x":1}}"#, None),
        ] {
            let found = unknown(&Tree::parse(json).unwrap(), &schema);
            let wanted: Vec<_> = wanted
                .into_iter()
                .map(|(name, near)| Unknown {
                    name: name.to_owned(),
                    nearest: near.map(str::to_owned),
                })
                .collect();
            assert_eq!(found, wanted, "{json}");
        }
        let free = unknown(
            &Tree::parse(r#"{"x":1}"#).unwrap(),
            &json!({ "type": "object" }),
        );
        assert_eq!(free, []);
    }

    /// Each name here is similar to another, but is declared itself.
    #[test]
    fn names_are_found_wherever_a_schema_has_them() {
        let unit = json!({ "properties": { "unit": {} } });
        for (rule, more) in [
            ("then", json!({ "properties": { "units": {} } })),
            ("else", json!({ "properties": { "units": {} } })),
            (
                "dependentSchemas",
                json!({ "unit": { "properties": { "units": {} } } }),
            ),
            ("unevaluatedProperties", json!({ "type": "string" })),
            ("$ref", json!("https://example.com/unit.json")),
            ("$ref", json!("#unit")),
        ] {
            let mut schema = unit.clone();
            schema[rule] = more;
            let found = unknown(&Tree::parse(r#"{"units":1}"#).unwrap(), &schema);
            assert_eq!(found, [], "{schema}");
        }
        let mut closed = unit.clone();
        closed["unevaluatedProperties"] = json!(false);
        let found = unknown(&Tree::parse(r#"{"units":1}"#).unwrap(), &closed);
        assert_eq!(found[0].nearest.as_deref(), Some("unit"));
        let branches: Vec<_> = (0..100)
            .map(|number| json!({ "properties": { (format!("unit{number}")): {} } }))
            .collect();
        let many = Tree::parse(r#"{"unit0":1,"unit99":1}"#).unwrap();
        assert_eq!(unknown(&many, &json!({ "oneOf": branches })), []);
    }

    #[test]
    fn each_place_of_a_tuple_has_names_of_its_own() {
        let places = json!([{ "properties": { "unit": {} } }, { "properties": { "units": {} } }]);
        let rest = json!({ "properties": { "unity": {} } });
        for list in [
            json!({ "prefixItems": places, "items": rest }),
            json!({ "items": places }),
        ] {
            let schema = json!({ "properties": { "list": list } });
            let fits = Tree::parse(r#"{"list":[{"unit":1},{"units":1},{"unity":1}]}"#).unwrap();
            assert_eq!(unknown(&fits, &schema), []);
            let wrong = Tree::parse(r#"{"list":[{"units":1}]}"#).unwrap();
            assert_eq!(unknown(&wrong, &schema)[0].name, "list.0.units");
        }
    }
}
