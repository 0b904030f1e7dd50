//! Requests that a server sends as tasks in a session of 2025-11-25, and how it gets the answers.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use turnbuckle_client::{
    Client,
    protocol::{ElicitResult, Revision},
};

use crate::{
    asks_in_sessions::form,
    script::{Server, meet, plain},
};

/// Answers a form for each permit.
fn gated() -> (Arc<Semaphore>, Client) {
    let gate = Arc::new(Semaphore::new(0));
    let inner = Arc::clone(&gate);
    let client = plain().on_form(move |_| {
        let gate = Arc::clone(&inner);
        async move {
            gate.acquire().await.expect("the gate stays").forget();
            Ok(ElicitResult::accept([("seat", "12A")]))
        }
    });
    (gate, client)
}

async fn ask(server: &mut Server, id: &str, method: &str, params: Value) {
    let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    server.say(request).await;
}

/// The whole answer to a request.
async fn answer(server: &mut Server, id: &str, method: &str, params: Value) -> Value {
    ask(server, id, method, params).await;
    server.expect(json!({"id": id})).await
}

fn form_as_task() -> Value {
    let mut form = form();
    form["task"] = json!({"ttl": 60_000});
    form
}

#[tokio::test]
async fn a_form_is_answered_with_a_task_whose_result_is_waited_for() {
    let (gate, client) = gated();
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let created = answer(&mut server, "q1", "elicitation/create", form_as_task()).await;
    let task = &created["result"]["task"];
    assert_eq!(task["status"], "working", "{created}");
    assert_eq!(task["ttl"], 60_000);
    let about = json!({"taskId": task["taskId"]});
    let seen = answer(&mut server, "q2", "tasks/get", about.clone()).await;
    assert_eq!(seen["result"]["status"], "working");
    let listed = answer(&mut server, "q3", "tasks/list", json!({})).await;
    assert_eq!(listed["result"]["tasks"][0]["taskId"], task["taskId"]);

    // `tasks/result` waits until the form has been filled in.
    ask(&mut server, "q4", "tasks/result", about.clone()).await;
    gate.add_permits(1);
    let result = server.expect(json!({"id": "q4"})).await;
    assert_eq!(result["result"]["action"], "accept", "{result}");
    assert_eq!(result["result"]["content"], json!({"seat": "12A"}));
    let related = &result["result"]["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(*related, about);
    let seen = answer(&mut server, "q5", "tasks/get", about.clone()).await;
    assert_eq!(seen["result"]["status"], "completed");
    let refused = answer(&mut server, "q6", "tasks/cancel", about).await;
    assert_eq!(refused["error"]["code"], -32_602);
}

#[tokio::test]
async fn a_cancelled_task_is_not_reported_any_more() {
    let (gate, client) = gated();
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let created = answer(&mut server, "q1", "elicitation/create", form_as_task()).await;
    let about = json!({"taskId": created["result"]["task"]["taskId"]});
    let cancelled = answer(&mut server, "q2", "tasks/cancel", about.clone()).await;
    assert_eq!(cancelled["result"]["status"], "cancelled", "{cancelled}");
    let gone = answer(&mut server, "q3", "tasks/result", about).await;
    assert_eq!(gone["error"]["code"], -32_603);
    gate.add_permits(1);
    // The handler that waited is gone, so the permit is free for the next one.
    let plain = answer(&mut server, "q4", "elicitation/create", form()).await;
    assert_eq!(plain["result"]["action"], "accept", "{plain}");
    let unknown = json!({"taskId": "nobody's"});
    let unknown = answer(&mut server, "q5", "tasks/get", unknown).await;
    assert_eq!(unknown["error"]["code"], -32_602);
}

// tasks: a receiver without the capability for a kind of request MUST process it as usual.
#[tokio::test]
async fn a_wish_for_a_task_is_ignored_where_there_are_none() {
    let (gate, client) = gated();
    gate.add_permits(1);
    let (_connection, mut server) = meet(&client, Revision::V2025_06_18).await;
    let answered = answer(&mut server, "q1", "elicitation/create", form_as_task()).await;
    assert_eq!(answered["result"]["action"], "accept", "{answered}");
    let unknown = answer(&mut server, "q2", "tasks/list", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32_601);
}

// tasks: a receiver without the capability MUST process a request as usual, and ignore the request for
// a task.
#[tokio::test]
async fn a_client_without_tasks_answers_as_if_there_were_none() {
    let (gate, client) = gated();
    gate.add_permits(1);
    let client = client.without_tasks();
    let (_connection, mut server) = meet(&client, Revision::V2025_11_25).await;
    let answered = answer(&mut server, "q1", "elicitation/create", form_as_task()).await;
    assert_eq!(answered["result"]["action"], "accept", "{answered}");
    assert!(answered["result"].get("task").is_none(), "{answered}");
    let refused = answer(&mut server, "q2", "tasks/list", json!({})).await;
    assert_eq!(refused["error"]["code"], -32_601, "{refused}");
}
