//! Reads a list page by page, to its end or to the limit.

use std::collections::HashSet;

use serde_json::{Value, json};
use turnbuckle::protocol::{error::code, method::ListKind};

use super::hints;
use crate::{
    connection::Connection,
    finding::Finding,
    table::{cache, lists},
};

/// How many pages are read; a list with more pages probably never ends.
const MAX_PAGES: usize = 1_000;

/// How many entries are kept.
const MAX_ENTRIES: usize = 50_000;

/// A list that was read.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) entries: Vec<Value>,
    /// Whether every page was read.
    pub(super) is_whole: bool,
    /// How long it may be cached, by its first page.
    pub(super) ttl: u64,
}

/// Reads all pages. `None` if there is no list; the report then says why.
pub(super) async fn walk(connection: &mut Connection<'_>, kind: ListKind) -> Option<Listed> {
    let mut listed = Listed::default();
    let mut cursors = HashSet::new();
    let mut scope: Option<Value> = None;
    let mut params = json!({});
    for page in 0..MAX_PAGES {
        let exchange = connection.ask(kind.method(), params).await;
        let Some(result) = exchange.result() else {
            // Some servers offer resources but do not support templates.
            let is_left_out = kind == ListKind::Templates
                && page == 0
                && exchange.code() == Some(code::METHOD_NOT_FOUND);
            if !is_left_out {
                let said = format!("`{}` is answered with {}", kind.method(), exchange.came());
                connection.report.add(exchange.finding(&lists::FAILS, said));
            }
            return (page > 0).then_some(listed);
        };
        hints(connection, kind.method(), result);
        if page == 0 {
            listed.ttl = result["ttlMs"].as_u64().unwrap_or_default();
        }
        if scope.get_or_insert_with(|| result["cacheScope"].clone()) != &result["cacheScope"] {
            let said = "pages of one list have different scopes";
            let place = format!("`{}`", kind.method());
            connection
                .report
                .add(Finding::of(&cache::PAGES, said).at(place));
        }
        let Some(entries) = result[kind.member()].as_array() else {
            let said = format!("the result has no list `{}`", kind.member());
            connection.report.add(
                exchange
                    .finding(&lists::SHAPE, said)
                    .at(format!("`{}`", kind.method())),
            );
            return None;
        };
        let room = MAX_ENTRIES.saturating_sub(listed.entries.len());
        listed.entries.extend(entries.iter().take(room).cloned());
        match next(connection, kind, result, &mut cursors) {
            Next::Cursor(cursor) => params = json!({ "cursor": cursor }),
            Next::End => {
                listed.is_whole = true;
                return Some(listed);
            }
            Next::Fault => return Some(listed),
        }
    }
    let said = format!("`{}` has more than {MAX_PAGES} pages", kind.method());
    connection
        .report
        .add(Finding::of(&lists::CURSOR_LOOP, said));
    Some(listed)
}

enum Next {
    Cursor(String),
    End,
    Fault,
}

fn next(
    connection: &Connection<'_>,
    kind: ListKind,
    result: &Value,
    seen: &mut HashSet<String>,
) -> Next {
    match result.get("nextCursor") {
        None => Next::End,
        Some(Value::String(cursor)) if seen.insert(cursor.clone()) => Next::Cursor(cursor.clone()),
        Some(Value::String(cursor)) => {
            let said = format!("`{}` gives the same cursor again", kind.method());
            let finding = Finding::of(&lists::CURSOR_LOOP, said);
            let evidence = format!("← \"nextCursor\": {:?} after {} pages", cursor, seen.len());
            connection.report.add(finding.seen(evidence));
            Next::Fault
        }
        Some(Value::Null) => {
            let said = "`nextCursor` is null on the last page";
            let place = format!("`{}`", kind.method());
            connection
                .report
                .add(Finding::of(&lists::NULL, said).at(place));
            Next::End
        }
        Some(other) => {
            let said = "`nextCursor` is not a string";
            let finding = Finding::of(&lists::SHAPE, said).at(format!("`{}`", kind.method()));
            connection
                .report
                .add(finding.seen(format!("← \"nextCursor\": {other}")));
            Next::Fault
        }
    }
}
