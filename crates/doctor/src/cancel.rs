//! Checks cancellation: of unknown requests, and of running ones.

use serde_json::{Value, json};

use super::{
    connection::{Answer, Connection, Exchange, Transport},
    table::cancel,
};

/// Cancels a request that does not exist, then one that does.
pub(crate) async fn look(connection: &mut Connection<'_>) {
    // Over HTTP, a client of 2026-07-28 cancels by closing the stream, which `listen` checks.
    if connection.is_modern() && !connection.is_stdio() {
        return;
    }
    connection.report.step("cancelling requests");
    let params = json!({ "requestId": 987_654_321, "reason": "turnbuckle doctor" });
    connection.notify("notifications/cancelled", params).await;
    let after = alive(connection).await;
    if is_alive(&after) {
        connection
            .report
            .ok(&cancel::UNKNOWN, "cancelling an unknown request is ignored");
    } else {
        let said = format!(
            "after cancelling what does not exist, the next request gets {}",
            after.came()
        );
        connection.report.add(after.finding(&cancel::UNKNOWN, said));
        return;
    }
    in_flight(connection).await;
}

/// Cancels a request that was just sent, and counts the answers to it.
async fn in_flight(connection: &mut Connection<'_>) {
    let id = connection.next_id();
    let method = if connection.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    let request = connection.spoken.request(&id, method, json!({}));
    let limit = connection.limits.probe;
    match &mut connection.transport {
        Transport::Stdio(stdio) => drop(stdio.write(&request, limit).await),
        Transport::Events(events) => drop(events.post(&request, limit).await),
        // Each POST waits for its answer, so there is nothing left to cancel.
        Transport::Http(_) => return,
    }
    let params = json!({ "requestId": id, "reason": "turnbuckle doctor" });
    connection.notify("notifications/cancelled", params).await;
    let after = alive(connection).await;
    let is_for_it = |heard: &&Value| heard["id"] == id && heard.get("method").is_none();
    let answers = after.heard.iter().filter(is_for_it).count();
    if is_alive(&after) && answers <= 1 {
        connection
            .report
            .ok_unless_found(&cancel::SURVIVES, "cancelling a running request ends it");
        return;
    }
    let said = if answers > 1 {
        format!("a request that was cancelled has {answers} answers")
    } else {
        format!(
            "after a cancellation, the next request gets {}",
            after.came()
        )
    };
    connection
        .report
        .add(after.finding(&cancel::SURVIVES, said));
}

/// Sends a harmless request.
pub(crate) async fn alive(connection: &mut Connection<'_>) -> Exchange {
    let method = if connection.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    connection.ask(method, json!({})).await
}

pub(crate) fn is_alive(exchange: &Exchange) -> bool {
    matches!(exchange.answer, Answer::Message(_))
}
