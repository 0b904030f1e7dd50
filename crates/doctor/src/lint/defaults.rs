//! Defaults that violate their own schema.

use turnbuckle::schema::Schema;

use serde_json::Value;

use super::{subschema, tool::Place};
use crate::{finding::Finding, table::schema};

pub(super) fn look(place: &Place<'_>, root: &Value) {
    subschema::walk(root, &mut |sub| {
        let Some(default) = sub.schema.get("default") else {
            return;
        };
        // A schema that refers to the root cannot be checked without the root.
        if sub.schema.to_string().contains("\"$ref\"") {
            return;
        }
        let Ok(compiled) = Schema::compile(sub.schema) else {
            return;
        };
        if !compiled.is_valid(default) {
            let said = "a default does not match its schema";
            let finding = Finding::of(&schema::DEFAULT, said);
            place.found(finding.seen(format!("{}", sub.schema)), &sub.pointer);
        }
    });
}
