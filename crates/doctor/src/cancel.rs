//! Cancelling: of nothing, and of something.

use serde_json::{Value, json};

use super::{
    finding::Finding,
    table::cancel,
    talk::{Answer, Exchange, Road, Talk},
};

/// Cancels a request that is not there, then one that is.
pub(crate) async fn look(talk: &mut Talk<'_>) {
    // Over HTTP, 2026-07-28 cancels by leaving the stream, which `listen` looks at.
    if talk.is_modern() && !talk.is_pipe() {
        return;
    }
    talk.report.step("cancelling requests");
    let params = json!({ "requestId": 987_654_321, "reason": "turnbuckle doctor" });
    talk.notify("notifications/cancelled", params).await;
    let after = alive(talk).await;
    if is_alive(&after) {
        talk.report
            .ok(&cancel::UNKNOWN, "of what is not there is ignored");
    } else {
        let said = format!(
            "after cancelling what does not exist, the next request gets {}",
            after.came()
        );
        let finding = Finding::of(&cancel::UNKNOWN, said);
        talk.report.add(finding.seen_all(after.evidence()));
        return;
    }
    in_flight(talk).await;
}

/// Cancels a request that was just sent, and counts what comes for it.
async fn in_flight(talk: &mut Talk<'_>) {
    let id = talk.next_id();
    let method = if talk.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    let request = talk.speech.request(&id, method, json!({}));
    let patience = talk.patience.probe;
    match &mut talk.road {
        Road::Pipe(pipe) => drop(pipe.write(&request, patience).await),
        Road::Events(events) => drop(events.post(&request, patience).await),
        // An answer comes with each POST: what is cancelled is over already.
        Road::Http(_) => return,
    }
    let params = json!({ "requestId": id, "reason": "turnbuckle doctor" });
    talk.notify("notifications/cancelled", params).await;
    let after = alive(talk).await;
    let is_for_it = |heard: &&Value| heard["id"] == id && heard.get("method").is_none();
    let answers = after.heard.iter().filter(is_for_it).count();
    if is_alive(&after) && answers <= 1 {
        talk.report
            .ok_unless_found(&cancel::SURVIVES, "of a request ends in order");
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
    let finding = Finding::of(&cancel::SURVIVES, said);
    talk.report.add(finding.seen_all(after.evidence()));
}

/// Asks something harmless.
pub(crate) async fn alive(talk: &mut Talk<'_>) -> Exchange {
    let method = if talk.is_modern() {
        "server/discover"
    } else {
        "ping"
    };
    talk.ask(method, json!({})).await
}

pub(crate) fn is_alive(exchange: &Exchange) -> bool {
    matches!(exchange.answer, Answer::Message(_))
}
