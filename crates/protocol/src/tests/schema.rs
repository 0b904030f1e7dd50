//! Outgoing messages match the specification's schemas in each revision: they have no member that the
//! revision does not define, and every member that it defines occurs. The schemas are generated from
//! the table of facts.

use std::collections::BTreeSet;

use crate::Revision;
use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::tests::{
    closed::close,
    facts::{Schema, Table},
    generator::Case,
    outgoing::cases,
    sample::Fullness,
};

/// A schema with its validator.
struct Judge {
    schema: Schema,
    validator: Validator,
}

impl Judge {
    fn new(schema: Schema) -> Self {
        let validator = schema.validator();
        Self { schema, validator }
    }

    /// Returns the errors of a case, according to some of its definitions.
    fn faults(&self, case: &Case, definitions: &[&'static str]) -> Vec<String> {
        let known = definitions.iter().filter(|name| self.schema.has(name));
        let json: Map<_, _> = known
            .map(|name| ((*name).to_owned(), case.json.clone()))
            .collect();
        let json = Value::Object(json);
        let errors = self.validator.iter_errors(&json);
        errors
            .map(|error| format!("{error} at {}\n  in {}", error.instance_path(), case.json))
            .collect()
    }
}

fn all_cases(revision: Revision) -> Vec<Case> {
    Fullness::BOTH
        .into_iter()
        .flat_map(|fullness| cases(revision, fullness))
        .collect()
}

fn assert_none(revision: Revision, faults: &[String]) {
    let count = faults.len();
    assert!(
        faults.is_empty(),
        "{revision}: {count} faults\n{}",
        faults.join("\n")
    );
}

#[test]
fn what_goes_out_satisfies_the_schema_of_its_revision() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let judge = Judge::new(Schema::of(&table, revision.as_str()));
        let check =
            |case: Case| judge.faults(&case, &[case.exact.as_slice(), &case.loose].concat());
        let faults: Vec<_> = all_cases(revision).into_iter().flat_map(check).collect();
        assert_none(revision, &faults);
    }
}

// rule: V5
#[test]
fn nothing_goes_out_that_the_revision_does_not_name() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let judge = Judge::new(close(&Schema::of(&table, revision.as_str())));
        let check = |case: Case| judge.faults(&case, &case.exact);
        let faults: Vec<_> = all_cases(revision).into_iter().flat_map(check).collect();
        assert_none(revision, &faults);
    }
}

#[test]
fn every_definition_of_every_schema_has_a_case() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let cases = all_cases(revision);
        let covered: BTreeSet<_> = cases
            .iter()
            .flat_map(|case| case.exact.iter().chain(&case.loose))
            .copied()
            .collect();
        let schema = Schema::of(&table, revision.as_str());
        let missing: Vec<_> = schema
            .definitions()
            .keys()
            .filter(|name| !covered.contains(name.as_str()))
            .collect();
        assert!(missing.is_empty(), "{revision}: no case for {missing:?}");
    }
}

/// A schema that accepts everything would prove nothing.
#[test]
fn a_closed_schema_rejects_what_it_does_not_name() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let judge = Judge::new(close(&Schema::of(&table, revision.as_str())));
        for mut case in all_cases(revision) {
            let describes_members = case.exact.iter().any(|name| {
                judge
                    .schema
                    .definitions()
                    .get(*name)
                    .is_some_and(|definition| {
                        definition.get("additionalProperties") == Some(&false.into())
                    })
            });
            if describes_members {
                case.json["notInAnySpecification"] = true.into();
                assert!(
                    !judge.faults(&case, &case.exact).is_empty(),
                    "{:?}",
                    case.exact
                );
            }
        }
    }
}

#[test]
fn every_member_that_a_schema_names_can_be_said() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let cases = cases(revision, Fullness::Full);
        let mut unsaid = Vec::new();
        for (name, definition) in Schema::of(&table, revision.as_str()).definitions() {
            let said: Vec<_> = cases
                .iter()
                .filter(|case| case.exact.contains(&name.as_str()))
                .map(|case| &case.json)
                .collect();
            if !said.is_empty() {
                find_unsaid(definition, &said, name, &mut unsaid);
            }
        }
        assert!(unsaid.is_empty(), "{revision}: {unsaid:?} never go out");
    }
}

/// Finds members of a schema that none of its values has. References are not followed, because each
/// definition has its own values.
fn find_unsaid(schema: &Value, said: &[&Value], path: &str, unsaid: &mut Vec<String>) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let said: Vec<_> = said.iter().filter_map(|value| value.get(name)).collect();
        if said.is_empty() {
            unsaid.push(path);
        } else {
            find_unsaid(member, &said, &path, unsaid);
        }
    }
    if let Some(items) = schema.get("items") {
        let said: Vec<_> = said
            .iter()
            .filter_map(|value| value.as_array())
            .flatten()
            .collect();
        find_unsaid(items, &said, path, unsaid);
    }
}
