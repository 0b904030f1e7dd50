//! Tasks of the extension that ask questions and report progress.

use serde_json::{Value, json};
use tokio::time::timeout;

use super::lab::{call, declaring, error, lab, next, result, task, until};
use crate::wire::{TIMEOUT, Wire};

// rule: Z4
#[tokio::test]
async fn questions_are_asked_on_the_task_and_answered_one_by_one() {
    let (_lab, server) = lab();
    let mut wire = Wire::open(&server);
    let created = result(&mut wire, "tools/call", call("curious")).await;
    let id = &created["taskId"];
    let asking = until(&mut wire, id, "input_required").await;
    let keys: Vec<_> = asking["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(keys, ["first", "second"]);
    assert_eq!(
        asking["inputRequests"]["first"]["method"],
        "elicitation/create"
    );

    let accept = |name: &str| json!({ "action": "accept", "content": { "name": name } });
    let update = |responses: Value| declaring(json!({ "taskId": id, "inputResponses": responses }));
    let wrong = update(json!({ "first": { "action": "accept", "content": { "name": 7 } } }));
    let refused = error(&mut wire, "tasks/update", wrong).await;
    assert_eq!(refused["code"], -32_602, "{refused}");
    let partly = update(json!({ "first": accept("Ada"), "nobody asked": {} }));
    let done = result(&mut wire, "tasks/update", partly).await;
    assert_eq!(done, json!({ "resultType": "complete" }), "and no more");
    let asking = result(&mut wire, "tasks/get", task(id)).await;
    assert_eq!(asking["status"], "input_required");
    let keys: Vec<_> = asking["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(keys, ["second"]);
    // A second answer to the same question is ignored.
    let rest = update(json!({ "first": accept("Eve"), "second": accept("Bob") }));
    result(&mut wire, "tasks/update", rest).await;
    let done = until(&mut wire, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "\"Ada\" and \"Bob\"");
}

#[tokio::test]
async fn a_call_that_goes_to_the_background_asks_before_it_does() {
    let (_lab, server) = lab();
    let mut wire = Wire::open(&server);
    let asked = result(&mut wire, "tools/call", call("later")).await;
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    assert!(asked.get("taskId").is_none());
    let mut retry = call("later");
    retry["requestState"] = asked["requestState"].clone();
    retry["inputResponses"] =
        json!({ "name": { "action": "accept", "content": { "name": "Ada" } } });
    let created = result(&mut wire, "tools/call", retry.clone()).await;
    assert_eq!(created["resultType"], "task", "{created}");
    assert!(created.get("requestState").is_none() && created.get("inputRequests").is_none());
    let done = until(&mut wire, &created["taskId"], "completed").await;
    assert_eq!(
        done["result"]["content"][0]["text"],
        "\"Ada\", a task: true"
    );
}

// rule: Z6
#[tokio::test]
async fn what_a_task_says_of_its_progress_is_its_status_and_no_notification() {
    let (lab, server) = lab();
    let mut wire = Wire::open(&server);
    let mut params = call("slow");
    params["_meta"]["progressToken"] = json!("p");
    let id = wire.ask("tools/call", params).await;
    let created = next(&mut wire).await;
    assert_eq!(
        created["id"], id,
        "nothing comes before the answer: {created}"
    );
    let task_id = &created["result"]["taskId"];
    let saying = async {
        loop {
            let id = wire.ask("tasks/get", task(task_id)).await;
            let seen = next(&mut wire).await;
            assert_eq!(seen["id"], id, "no notification comes: {seen}");
            if seen["result"]["statusMessage"] == "half (1 of 2)" {
                break;
            }
        }
    };
    timeout(TIMEOUT, saying).await.expect("the words come");
    lab.gate.add_permits(1);
}
