//! Tasks of the extension: when a call becomes one, and how it ends.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use turnbuckle_server::{Caller, Server, TaskSettings, Tool};

use super::lab::{
    call, declaring, error, lab, next, quick, result, task, until, until_alive, with_settings,
};
use crate::wire::Wire;

// rule: Z2
#[tokio::test]
async fn a_slow_call_of_a_client_that_knows_tasks_becomes_one_and_its_result_is_kept() {
    let (lab, server) = lab();
    let mut wire = Wire::open(&server);
    let discovered = result(&mut wire, "server/discover", json!({})).await;
    let extensions = &discovered["capabilities"]["extensions"];
    assert_eq!(extensions["io.modelcontextprotocol/tasks"], json!({}));
    assert!(discovered["capabilities"].get("tasks").is_none());

    let created = result(&mut wire, "tools/call", call("slow")).await;
    assert_eq!(created["resultType"], "task", "{created}");
    assert_eq!(created["status"], "working");
    assert_eq!(created["ttlMs"], 3_600_000);
    assert_eq!(created["pollIntervalMs"], 5);
    let id = &created["taskId"];
    assert_eq!(id.as_str().unwrap().len(), 22, "128 bits in base64");

    let working = until(&mut wire, id, "working").await;
    assert_eq!(working["resultType"], "complete");
    until_alive(&lab, 1).await;
    lab.gate.add_permits(1);
    let done = until(&mut wire, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "done");
    assert_eq!(done["result"]["resultType"], "complete");
    assert!(done["result"].get("_meta").is_none(), "{done}");
    until_alive(&lab, 0).await;
}

#[tokio::test]
async fn what_is_done_at_once_is_answered_at_once() {
    let (_lab, server) = lab();
    let mut wire = Wire::open(&server);
    let done = result(&mut wire, "tools/call", call("quick")).await;
    assert_eq!(done["resultType"], "complete");
    assert_eq!(done["content"][0]["text"], "at once");
}

// rule: Z1, Z4
#[tokio::test]
async fn a_client_that_knows_no_tasks_gets_an_ordinary_call_or_is_told() {
    let (lab, server) = lab();
    lab.gate.add_permits(1);
    let mut wire = Wire::open(&server);
    let done = wire.call("slow", json!({})).await;
    assert_eq!(done["content"][0]["text"], "done");

    let params = json!({ "name": "strict", "arguments": {} });
    let error = wire.error("tools/call", params).await;
    assert_eq!(error["code"], -32_021);
    let required = &error["data"]["requiredCapabilities"]["extensions"];
    assert_eq!(required["io.modelcontextprotocol/tasks"], json!({}));

    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let params = json!({ "taskId": "any", "inputResponses": {} });
        assert_eq!(wire.code(method, params).await, -32_021, "{method}");
    }
    let listen = json!({ "notifications": { "taskIds": ["any"] } });
    assert_eq!(wire.code("subscriptions/listen", listen).await, -32_021);
    for method in ["tasks/result", "tasks/list"] {
        let params = task(&json!("any"));
        let error = error_of(&mut wire, method, params).await;
        assert_eq!(error["code"], -32_601, "{method}");
    }
}

async fn error_of(wire: &mut Wire, method: &str, params: Value) -> Value {
    error(wire, method, params).await
}

#[tokio::test]
async fn a_server_without_such_tools_has_no_tasks() {
    let server = Server::new("plain", "1").tool(Tool::new("plain", quick));
    let server = server.build().expect("in order");
    let mut wire = Wire::open(&server);
    let discovered = result(&mut wire, "server/discover", json!({})).await;
    assert!(discovered["capabilities"].get("extensions").is_none());
    let error = error(&mut wire, "tasks/get", task(&json!("any"))).await;
    assert_eq!(error["code"], -32_601);
}

// rule: Z3
#[tokio::test]
async fn errors_of_tools_complete_a_task_and_errors_of_the_protocol_fail_it() {
    let (_lab, server) = lab();
    let mut wire = Wire::open(&server);
    let created = result(&mut wire, "tools/call", call("failing")).await;
    let done = until(&mut wire, &created["taskId"], "completed").await;
    assert_eq!(done["result"]["isError"], true);
    assert_eq!(done["statusMessage"], "no luck");
    let created = result(&mut wire, "tools/call", call("rejected")).await;
    let failed = until(&mut wire, &created["taskId"], "failed").await;
    assert_eq!(failed["error"]["code"], -32_603);
    assert_eq!(failed["statusMessage"], "broken inside");
    assert!(failed.get("result").is_none());
    let unknown = error(&mut wire, "tasks/get", task(&json!("nobody"))).await;
    assert_eq!(unknown["code"], -32_602);
}

#[tokio::test]
async fn cancelling_stops_the_work_and_may_be_said_twice() {
    let (lab, server) = lab();
    let mut wire = Wire::open(&server);
    let created = result(&mut wire, "tools/call", call("slow")).await;
    until_alive(&lab, 1).await;
    let id = &created["taskId"];
    for _ in 0..2 {
        let done = result(&mut wire, "tasks/cancel", task(id)).await;
        assert_eq!(done["resultType"], "complete");
        assert!(done.get("taskId").is_none() && done.get("status").is_none());
        until(&mut wire, id, "cancelled").await;
    }
    until_alive(&lab, 0).await;
    let unknown = error(&mut wire, "tasks/cancel", task(&json!("nobody"))).await;
    assert_eq!(unknown["code"], -32_602);
}

// rule: D6, Z6
#[tokio::test]
async fn a_task_outlives_its_connection_and_belongs_to_its_caller() {
    let (lab, server) = lab();
    let mut wire = Wire::open_as(&server, Caller::new("ada"));
    let created = result(&mut wire, "tools/call", call("slow")).await;
    let id = &created["taskId"];
    until_alive(&lab, 1).await;
    wire.hang_up().await;
    assert_eq!(lab.alive.load(Ordering::SeqCst), 1, "the work goes on");

    let mut other = Wire::open_as(&server, Caller::new("bob"));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let mut params = task(id);
        params["inputResponses"] = json!({});
        let error = error(&mut other, method, params).await;
        assert_eq!(error["code"], -32_602, "{method}");
    }
    let mut again = Wire::open_as(&server, Caller::new("ada"));
    until(&mut again, id, "working").await;
    lab.gate.add_permits(1);
    let done = until(&mut again, id, "completed").await;
    assert_eq!(done["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn listeners_of_a_task_are_notified() {
    let (lab, server) = lab();
    let mut wire = Wire::open(&server);
    let created = result(&mut wire, "tools/call", call("slow")).await;
    let id = created["taskId"].clone();
    let filter = json!({ "notifications": { "taskIds": [id, "nobody's"] } });
    let listen = wire.ask("subscriptions/listen", declaring(filter)).await;
    let acknowledged = next(&mut wire).await;
    let accepted = &acknowledged["params"]["notifications"]["taskIds"];
    assert_eq!(*accepted, json!([id, "nobody's"]), "{acknowledged}");
    lab.gate.add_permits(1);
    let done = loop {
        let news = next(&mut wire).await;
        assert_eq!(news["method"], "notifications/tasks", "{news}");
        assert_eq!(news["params"]["taskId"], id);
        let tag = &news["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*tag, listen);
        if news["params"]["status"] != "working" {
            break news;
        }
    };
    assert_eq!(done["params"]["status"], "completed");
    assert_eq!(done["params"]["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn there_is_a_bound_on_tasks_that_run() {
    let (lab, server) = with_settings(TaskSettings::default().max_running_per_caller(2));
    let mut wire = Wire::open_as(&server, Caller::new("ada"));
    for _ in 0..2 {
        result(&mut wire, "tools/call", call("slow")).await;
    }
    let refused = error(&mut wire, "tools/call", call("slow")).await;
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("2 tasks of yours")
    );
    let mut other = Wire::open_as(&server, Caller::new("bob"));
    result(&mut other, "tools/call", call("slow")).await;
    until_alive(&lab, 3).await;
    lab.gate.add_permits(1);
    until_alive(&lab, 2).await;
}

#[tokio::test]
async fn when_the_server_shuts_down_its_tasks_say_why_they_failed() {
    let (lab, server) = lab();
    let mut wire = Wire::open(&server);
    let created = result(&mut wire, "tools/call", call("slow")).await;
    until_alive(&lab, 1).await;
    server.shutdown().await;
    assert_eq!(lab.alive.load(Ordering::SeqCst), 0);
    let failed = result(&mut wire, "tasks/get", task(&created["taskId"])).await;
    assert_eq!(failed["status"], "failed");
    let message = failed["statusMessage"].as_str().unwrap();
    assert!(message.contains("shut down"), "{message}");
    let refused = error(&mut wire, "tools/call", call("slow")).await;
    assert!(
        refused["message"]
            .as_str()
            .unwrap()
            .contains("shutting down")
    );
}
