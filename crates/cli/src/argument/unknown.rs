//! Names that a schema does not have. Where it allows others, they pass every check, and are most
//! likely misspelt.

use serde_json::Value;
use turnbuckle::schema::nearest_name;

use super::{Tree, place::schemas_at};

/// A name that the schema does not have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unknown {
    /// As it is typed: `address.ctiy`.
    pub(crate) name: String,
    /// What was probably meant.
    pub(crate) nearest: Option<String>,
}

/// Every name that the schema does not have, where it has names and does not say that any will do.
pub(crate) fn unknown(tree: &Tree, schema: &Value) -> Vec<Unknown> {
    let mut found = Vec::new();
    walk(tree, schema, &mut Vec::new(), &mut found);
    found
}

fn walk<'t>(tree: &'t Tree, root: &Value, path: &mut Vec<&'t str>, found: &mut Vec<Unknown>) {
    match tree {
        Tree::Leaf(_) => {}
        Tree::List(items) => {
            for item in items {
                // Every item has the schema that the first one has.
                path.push("0");
                walk(item, root, path, found);
                path.pop();
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
                    let dotted = |name: &str| [&path[..], &[name]].concat().join(".");
                    found.push(Unknown {
                        name: dotted(name),
                        nearest: near.map(|near| dotted(&near)),
                    });
                }
                path.push(name);
                walk(value, root, path, found);
                path.pop();
            }
        }
    }
}

/// The names that schemas have; `None` where any name will do, or nothing is said of names.
fn names<'s>(schemas: &[&'s Value]) -> Option<Vec<&'s str>> {
    let is_open = |schema: &&Value| {
        let rule = schema.get("additionalProperties");
        rule.is_some_and(|rule| rule != false) || schema.get("patternProperties").is_some()
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
                Some(("stops.0.cty", Some("stops.0.city"))),
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
}
