//! Definitions that contain themselves.

use std::collections::HashSet;

use serde_json::Value;

use super::{subschema, tool::Place};
use crate::{finding::Finding, table::schema};

/// How many definitions are followed from one to the next.
const MAX_DEFINITIONS: usize = 1_000;

pub(super) fn look(place: &Place<'_>, root: &Value) {
    let mut starts = Vec::new();
    subschema::walk(root, &mut |sub| {
        if let Some(reference) = sub.schema["$ref"].as_str() {
            starts.push(reference.to_owned());
        }
    });
    starts.sort_unstable();
    starts.dedup();
    for start in starts.iter().take(MAX_DEFINITIONS) {
        if start == "#" || reaches(root, start) {
            let said = "a definition contains itself";
            let finding = Finding::of(&schema::RECURSION, said);
            place.found(finding.seen(format!("\"$ref\": {start:?}")), "/inputSchema");
            return;
        }
    }
}

/// Whether the target of a reference refers to the reference again.
fn reaches(root: &Value, start: &str) -> bool {
    let mut seen = HashSet::new();
    let mut left = vec![start.to_owned()];
    while let Some(reference) = left.pop() {
        let Some(target) = resolve(root, &reference) else {
            continue;
        };
        if !seen.insert(reference) || seen.len() > MAX_DEFINITIONS {
            continue;
        }
        let mut found = Vec::new();
        subschema::walk(target, &mut |sub| {
            if let Some(next) = sub.schema["$ref"].as_str() {
                found.push(next.to_owned());
            }
        });
        if found.iter().any(|next| next == start) {
            return true;
        }
        left.extend(found);
    }
    false
}

fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let pointer = reference.strip_prefix('#')?;
    root.pointer(pointer)
}
