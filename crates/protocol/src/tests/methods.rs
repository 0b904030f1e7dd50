//! The table of methods agrees with the specification's schemas.

use std::collections::BTreeSet;

use crate::{
    Revision,
    method::{self, Direction, MethodKind},
};

use crate::tests::facts::{Schema, Table};

/// The methods of the members of a union.
fn methods(schema: &Schema, union: &str) -> BTreeSet<String> {
    let Some(definition) = schema.definitions().get(union) else {
        return BTreeSet::new();
    };
    let alone = std::slice::from_ref(definition);
    let members = definition["anyOf"].as_array().map_or(alone, Vec::as_slice);
    members
        .iter()
        .map(|member| {
            // A union with a single member is defined in place.
            let definition = match member["$ref"].as_str() {
                Some(reference) => &schema.definitions()[reference.rsplit('/').next().unwrap()],
                None => member,
            };
            let method = &definition["properties"]["method"]["const"];
            method
                .as_str()
                .unwrap_or_else(|| panic!("no method in {member}"))
                .to_owned()
        })
        .collect()
}

fn ours(revision: Revision, direction: Direction, kind: MethodKind) -> BTreeSet<String> {
    method::entries()
        .iter()
        .filter(|entry| entry.kind == kind && entry.is_available(revision, direction))
        .filter(|entry| method::extension(entry.name, revision).is_none())
        .map(|entry| entry.name.to_owned())
        .collect()
}

#[test]
fn the_table_agrees_with_the_schemas() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let schema = Schema::of(&table, revision.as_str());
        for (union, direction, kind) in [
            ("ClientRequest", Direction::ToServer, MethodKind::Request),
            ("ServerRequest", Direction::ToClient, MethodKind::Request),
            (
                "ClientNotification",
                Direction::ToServer,
                MethodKind::Notification,
            ),
            (
                "ServerNotification",
                Direction::ToClient,
                MethodKind::Notification,
            ),
        ] {
            assert_eq!(
                ours(revision, direction, kind),
                methods(&schema, union),
                "{revision} {union}"
            );
        }
    }
}

#[test]
fn every_method_of_the_schemas_is_in_the_table() {
    let table = Table::read();
    for &revision in Revision::ALL {
        let schema = Schema::of(&table, revision.as_str());
        for (name, definition) in schema.definitions() {
            if let Some(method) = definition["properties"]["method"]["const"].as_str() {
                assert!(
                    method::find(method).is_some(),
                    "{revision} {name}: `{method}`"
                );
            }
        }
    }
}
