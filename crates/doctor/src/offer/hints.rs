//! Hints for caches on a result.

use serde_json::Value;

use crate::{finding::Finding, table::cache, talk::Talk};

/// Looks at the hints of a result of 2026-07-28.
pub(crate) fn hints(talk: &Talk<'_>, method: &str, result: &Value) {
    if !talk.is_modern() {
        return;
    }
    let is_time = result["ttlMs"].as_u64().is_some();
    let is_scope = ["public", "private"].contains(&result["cacheScope"].as_str().unwrap_or(""));
    if is_time && is_scope {
        talk.report
            .ok_unless_found(&cache::HINTS, "hints on every list");
        return;
    }
    let said = "a result lacks `ttlMs` or `cacheScope`, or they are none";
    let (time, scope) = (&result["ttlMs"], &result["cacheScope"]);
    let finding = Finding::of(&cache::HINTS, said).at(format!("`{method}`"));
    let seen = format!("← \"ttlMs\": {time}, \"cacheScope\": {scope}");
    talk.report.add(finding.seen(seen));
}
