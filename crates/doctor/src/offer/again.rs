//! Requests a list a second time, and checks that it is the same.

use serde_json::{Value, json};
use turnbuckle::protocol::method::ListKind;

use super::pages::Listed;
use crate::{
    connection::Connection,
    finding::Finding,
    table::{cache, lists},
};

/// How many of the differing names are shown.
const SHOWN: usize = 5;

/// Requests the first page again and compares.
pub(super) async fn look(connection: &mut Connection<'_>, kind: ListKind, listed: &Listed) {
    if listed.entries.is_empty() || !listed.is_whole {
        return;
    }
    let exchange = connection.ask(kind.method(), json!({})).await;
    let Some(result) = exchange.result() else {
        let said = format!(
            "`{}` is answered with {} the second time",
            kind.method(),
            exchange.came()
        );
        connection
            .report
            .add(exchange.finding(&lists::UNSTABLE, said));
        return;
    };
    let again = result[kind.member()].as_array();
    let again: Vec<&str> = names(kind, again.into_iter().flatten()).collect();
    let before: Vec<&str> = names(kind, listed.entries.iter())
        .take(again.len())
        .collect();
    let is_one_page = result.get("nextCursor").is_none_or(Value::is_null);
    if again == before && (!is_one_page || again.len() == listed.entries.len()) {
        connection.report.ok_unless_found(&lists::ORDER, "stable");
        return;
    }
    let (mut one, mut other) = (again.clone(), before.clone());
    one.sort_unstable();
    other.sort_unstable();
    let finding = if one == other && again.len() == before.len() {
        let said = format!("{}s come in another order the second time", kind.noun());
        Finding::of(&lists::ORDER, said)
    } else {
        let said = format!("other {}s are listed the second time", kind.noun());
        Finding::of(&lists::UNSTABLE, said)
    };
    let shown = |names: &[&str]| {
        names
            .iter()
            .take(SHOWN)
            .copied()
            .collect::<Vec<_>>()
            .join(", ")
    };
    connection.report.add(
        finding
            .seen(format!("first: {}", shown(&before)))
            .seen(format!("second: {}", shown(&again))),
    );
    if listed.ttl > 0 {
        let said = format!(
            "`{}` may be kept for {} ms, and changes at once",
            kind.method(),
            listed.ttl
        );
        connection.report.add(Finding::of(&cache::STALE, said));
    }
}

fn names<'e>(
    kind: ListKind,
    entries: impl Iterator<Item = &'e Value>,
) -> impl Iterator<Item = &'e str> {
    entries.map(move |entry| entry[kind.key()].as_str().unwrap_or_default())
}
