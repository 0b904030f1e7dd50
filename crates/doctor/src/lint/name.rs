//! Names of tools.

use std::collections::HashMap;

use serde_json::Value;

use super::tool::Place;
use crate::{finding::Finding, report::Report, table::schema};

/// With 50 characters, ten are left for the server's name before Cursor's limit of 60.
const MAX_NAME: usize = 50;

pub(super) fn look(place: &Place<'_>, tool: &Value) {
    let Some(name) = tool["name"].as_str() else {
        return;
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    if name.is_empty() {
        place.found(Finding::of(&schema::NAME, "a name is empty"), "");
    } else if let Some(odd) = name.chars().find(|letter| !is_plain(*letter)) {
        let said = format!("a name has the character {odd:?}");
        place.found(Finding::of(&schema::NAME, said), "");
    }
    let length = name.chars().count();
    if length > MAX_NAME {
        let said = format!("a name is longer than {MAX_NAME} characters");
        let finding = Finding::of(&schema::NAME_LENGTH, said);
        place.found(finding.seen(format!("{length} characters")), "");
    }
}

/// Finds names that some clients treat as the same.
pub(super) fn compare(report: &Report, tools: &[Value]) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for tool in tools {
        let Some(name) = tool["name"].as_str() else {
            continue;
        };
        let plain = name.to_ascii_lowercase().replace(['-', '.'], "_");
        match seen.get(&plain) {
            Some(other) if *other != name => {
                let said = "two names differ in case or in their separators alone";
                let place = format!("tools `{other}` and `{name}`");
                report.add(Finding::of(&schema::NAME_CASE, said).at(place));
            }
            _ => drop(seen.insert(plain, name)),
        }
    }
}
