//! The table of facts agrees with the specification's schemas.

use serde_json::{Map, Value};

use super::{
    facts::{Schema, Table},
    spec::{Spec, published},
};

#[test]
fn the_table_is_that_of_the_schemas() {
    let Some(spec) = Spec::find("the comparison of facts.tsv with the schemas") else {
        return;
    };
    let table = Table::read();
    for revision in published() {
        let document = spec.schema(revision);
        let key = ["$defs", "definitions"]
            .into_iter()
            .find(|key| document.get(key).is_some())
            .expect("a schema has definitions");
        let told = Schema::of(&table, revision.as_str());
        let meant = document[key].as_object().expect("definitions by name");
        let mut names: Vec<_> = meant.keys().chain(told.definitions().keys()).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            assert_eq!(
                told.definitions().get(name),
                meant.get(name).map(facts_of).as_ref(),
                "{revision} `{name}`: facts.tsv is stale; run scripts/facts"
            );
        }
    }
}

/// Returns a schema without prose, in the normal form that [`Schema`] also has.
fn facts_of(schema: &Value) -> Value {
    let Value::Object(keywords) = schema else {
        // `true` allows the same values as `{}`.
        return Value::Object(Map::new());
    };
    let kept = keywords
        .iter()
        .filter(|(keyword, _)| *keyword != "description");
    let mut facts = Map::new();
    for (keyword, value) in kept {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(members)) if members.is_empty() => continue,
            ("properties", Value::Object(members)) => members
                .iter()
                .map(|(name, member)| (name.clone(), facts_of(member)))
                .collect(),
            ("items" | "additionalProperties", schema) => facts_of(schema),
            ("anyOf" | "allOf", Value::Array(parts)) => parts.iter().map(facts_of).collect(),
            ("$ref", Value::String(path)) => path.replace("#/definitions/", "#/$defs/").into(),
            ("required", Value::Array(names)) => {
                let mut names = names.clone();
                names.sort_by(|left, right| left.as_str().cmp(&right.as_str()));
                names.into()
            }
            (_, value) => value.clone(),
        };
        facts.insert(keyword.clone(), value);
    }
    facts.into()
}
