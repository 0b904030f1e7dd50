//! All checks of lists.

use serde_json::{Value, json};
use turnbuckle::protocol::{error::code, method::ListKind};

use super::{again, pages, shape, uri};
use crate::{
    connection::Connection,
    finding::{Finding, counted},
    lint,
    table::lists,
};

/// An entry by its name, for people.
pub(super) fn place(kind: ListKind, entry: &Value, index: usize) -> String {
    match entry[kind.key()].as_str() {
        Some(name) => format!("{} `{name}`", kind.noun()),
        None => format!("{} {}", kind.noun(), index + 1),
    }
}

/// More tools than OpenAI and VS Code accept.
const MAX_TOOLS: usize = 128;

/// 100 KB of tools are about 25,000 tokens of every prompt.
const MAX_TOOLS_BYTES: usize = 100_000;

/// Reads and checks all lists; returns the tools.
pub(crate) async fn look(connection: &mut Connection<'_>, capabilities: &Value) -> Vec<Value> {
    let mut tools = Vec::new();
    let mut counts = Vec::new();
    for kind in ListKind::ALL {
        connection
            .report
            .step(format!("listing with `{}`", kind.method()));
        let is_offered = capabilities[kind.capability()].is_object();
        if !is_offered {
            undeclared(connection, kind).await;
            continue;
        }
        let Some(listed) = pages::walk(connection, kind).await else {
            continue;
        };
        look_at(connection, kind, &listed.entries);
        again::look(connection, kind, &listed).await;
        cursor(connection, kind).await;
        if !listed.entries.is_empty() {
            counts.push(counted(listed.entries.len(), kind.noun()));
        }
        if kind == ListKind::Tools {
            tools = listed.entries;
        }
    }
    if counts.is_empty() {
        counts.push("nothing".to_owned());
    }
    connection.report.ok(&lists::FAILS, counts.join(", "));
    size(connection, &tools);
    lint::look(connection, &tools);
    tools
}

fn look_at(connection: &Connection<'_>, kind: ListKind, entries: &[Value]) {
    shape::look(connection.report, kind, entries);
    uri::look(connection.report, kind, entries);
    let mut seen = std::collections::HashSet::new();
    for entry in entries {
        let Some(name) = entry[kind.key()].as_str() else {
            continue;
        };
        if !seen.insert(name) {
            let said = format!("two {}s have the same {}", kind.noun(), kind.key());
            let place = format!("{} `{name}`", kind.noun());
            connection
                .report
                .add(Finding::of(&lists::DUPLICATE, said).at(place));
        }
    }
    if !seen.is_empty() {
        connection
            .report
            .ok_unless_found(&lists::SHAPE, "well formed");
    }
}

/// Checks that a list that the server does not declare does not exist.
async fn undeclared(connection: &mut Connection<'_>, kind: ListKind) {
    if kind == ListKind::Templates {
        return;
    }
    let exchange = connection.ask(kind.method(), json!({})).await;
    let entries = exchange.result().map(|result| &result[kind.member()]);
    let count = entries.and_then(Value::as_array).map_or(0, Vec::len);
    if count > 0 {
        let said = format!(
            "`{}` has {} and the capability `{}` is not declared",
            kind.method(),
            counted(count, kind.noun()),
            kind.capability()
        );
        connection.report.add(Finding::of(&lists::UNDECLARED, said));
    }
}

/// Checks a cursor that the server never returned.
async fn cursor(connection: &mut Connection<'_>, kind: ListKind) {
    if kind != ListKind::Tools {
        return;
    }
    let params = json!({ "cursor": crate::methods::NO_SUCH_NAME });
    let exchange = connection.ask(kind.method(), params).await;
    if exchange.code() == Some(code::INVALID_PARAMS) {
        connection.report.ok(&lists::CURSOR, "cursors are checked");
        return;
    }
    let said = format!(
        "a cursor that the server never gave out gets {}",
        exchange.came()
    );
    connection
        .report
        .add(exchange.finding(&lists::CURSOR, said));
}

fn size(connection: &Connection<'_>, tools: &[Value]) {
    if tools.len() > MAX_TOOLS {
        let said = format!("there are {} tools", tools.len());
        connection.report.add(Finding::of(&lists::MANY, said));
    }
    let bytes: usize = tools.iter().map(|tool| tool.to_string().len()).sum();
    if bytes > MAX_TOOLS_BYTES {
        let said = format!(
            "the tools take {}",
            turnbuckle_command_line::style::bytes(bytes)
        );
        let mut largest: Vec<_> = tools
            .iter()
            .map(|tool| (tool.to_string().len(), tool["name"].as_str()))
            .collect();
        largest.sort_unstable_by(|one, other| other.cmp(one));
        let largest = largest.iter().take(5).map(|(bytes, name)| {
            let name = name.unwrap_or_default();
            format!("`{name}` {}", turnbuckle_command_line::style::bytes(*bytes))
        });
        connection
            .report
            .add(Finding::of(&lists::LARGE, said).seen_all(largest));
    }
}
