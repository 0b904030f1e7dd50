//! Checks of the cache hints in a result.

use serde_json::Value;

use crate::{connection::Connection, finding::Finding, table::cache};

/// Checks the cache hints of a result of 2026-07-28.
pub(crate) fn hints(connection: &Connection<'_>, method: &str, result: &Value) {
    if !connection.is_modern() {
        return;
    }
    let is_time = result["ttlMs"].as_u64().is_some();
    let is_scope = ["public", "private"].contains(&result["cacheScope"].as_str().unwrap_or(""));
    if is_time && is_scope {
        connection
            .report
            .ok_unless_found(&cache::HINTS, "hints on every list");
        return;
    }
    let said = "a result lacks `ttlMs` or `cacheScope`, or they are malformed";
    let (time, scope) = (&result["ttlMs"], &result["cacheScope"]);
    let finding = Finding::of(&cache::HINTS, said).at(format!("`{method}`"));
    let seen = format!("← \"ttlMs\": {time}, \"cacheScope\": {scope}");
    connection.report.add(finding.seen(seen));
}
