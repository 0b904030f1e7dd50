//! Tasks in all four combinations of eras (G18, G31): they run, ask, and belong to one caller.

use serde_json::{Value, json};
use turnbuckle_client::{Connection, Era, RelayCall, RelayEvent, RelayRequest};
use turnbuckle_gateway::{Gateway, LiveGateway, Naming, UpstreamSettings};
use turnbuckle_protocol::envelope::Raw;
use turnbuckle_server::{Server, Tool};
use turnbuckle_store::MemoryReplicas;

use crate::{
    by_hand::{as_caller, as_legacy_caller, call, request},
    child,
    site::listen,
};

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The secret that the replicas of a gateway share.
const SECRET: [u8; 32] = [7; 32];

/// A gateway with two servers, so that ids must contain the server of a task.
async fn gateway(era: Era) -> LiveGateway {
    let clock = Server::new("clock", "1.0.0").tool(Tool::new("now", async || "noon"));
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("up", child::spec(), UpstreamSettings::new().era(era))
        .mount("clock", clock)
        .expect("a server")
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

/// The params of a modern client that supports tasks.
fn modern(more: &Value) -> Value {
    let mut params = call("", more);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "elicitation": {}, "extensions": { EXTENSION: {} } });
    params
}

async fn ask(client: &Connection, method: &str, params: &Value) -> Value {
    let answered = request(client, method, params).await;
    answered.unwrap_or_else(|error| panic!("{method}: {error}"))
}

#[tokio::test]
async fn a_modern_client_has_tasks_of_servers_of_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(era).await;
        let ada = as_caller(&gateway, "ada").await;
        let eve = as_caller(&gateway, "eve").await;
        for (tool, expected) in [("up__job", "the job is done"), ("up__job_asks", "accepted")] {
            if tool == "up__job_asks" && era == Era::Modern {
                // A modern server asks before it creates a task for a call.
                continue;
            }
            let created = ask(&ada, "tools/call", &modern(&json!({ "name": tool }))).await;
            assert_eq!(created["resultType"], "task", "{era:?} {created}");
            let id = created["taskId"].as_str().expect("an id");
            let named = modern(&json!({ "taskId": id }));
            let stolen = request(&eve, "tasks/get", &named).await;
            assert_eq!(stolen.expect_err("ada's task")["code"], -32602, "{era:?}");
            let done = loop {
                let task = ask(&ada, "tasks/get", &named).await;
                assert_eq!(task["taskId"], id, "{era:?} {task}");
                let asked = task["inputRequests"]
                    .as_object()
                    .cloned()
                    .unwrap_or_default();
                if !asked.is_empty() {
                    let answers: serde_json::Map<String, Value> = asked
                        .keys()
                        .map(|key| (key.clone(), json!({ "action": "accept", "content": {} })))
                        .collect();
                    let answers = json!({ "taskId": id, "inputResponses": answers });
                    ask(&ada, "tasks/update", &modern(&answers)).await;
                }
                if task["status"] == "completed" {
                    break task;
                }
                assert_ne!(task["status"], "failed", "{era:?} {task}");
            };
            let text = &done["result"]["content"][0]["text"];
            assert_eq!(*text, expected, "{era:?} {tool} {done}");
        }
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_modern_client_is_told_of_tasks_of_servers_of_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(era).await;
        let ada = as_caller(&gateway, "ada").await;
        let eve = as_caller(&gateway, "eve").await;
        let created = ask(&ada, "tools/call", &modern(&json!({ "name": "up__job" }))).await;
        let id = created["taskId"].as_str().expect("an id").to_owned();
        let wanted = modern(&json!({ "notifications": { "taskIds": [id] } }));
        let mut eves = open(&eve, &wanted);
        let acknowledged = next(&mut eves, "notifications/subscriptions/acknowledged").await;
        assert_eq!(acknowledged["notifications"]["taskIds"], json!([id]));
        let mut adas = open(&ada, &wanted);
        let done = loop {
            let task = next(&mut adas, "notifications/tasks").await;
            assert_eq!(task["taskId"], *id, "{era:?} {task}");
            let tag = &task["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert!(!tag.is_null(), "{era:?} {task}");
            assert!(task.get("resultType").is_none(), "{era:?} {task}");
            if task["status"] != "working" {
                break task;
            }
        };
        assert_eq!(done["status"], "completed", "{era:?} {done}");
        let text = &done["result"]["content"][0]["text"];
        assert_eq!(*text, "the job is done", "{era:?} {done}");
        // Another caller learns nothing, not even that the task exists.
        let told = next(&mut eves, "notifications/tasks");
        assert!(is_pending(told), "{era:?}: eve is told of ada's task");
        // tasks: a client that subscribes to tasks MUST declare the extension.
        let plain = call("", &json!({ "notifications": { "taskIds": [id] } }));
        let refused = request(&ada, "subscriptions/listen", &plain).await;
        assert_eq!(refused.expect_err("undeclared")["code"], -32021, "{era:?}");
        gateway.close().await;
    }
}

fn open(client: &Connection, params: &Value) -> RelayCall {
    let raw = serde_json::value::to_raw_value(params).expect("JSON");
    let request = RelayRequest::new("subscriptions/listen", Some(Raw::from(&raw).into()));
    client.relay(request.without_deadline()).expect("sent")
}

/// The params of the next notification with this method.
async fn next(call: &mut RelayCall, wanted: &str) -> Value {
    loop {
        match call.next().await {
            RelayEvent::Notification(method, Some(params)) if *method == *wanted => {
                return serde_json::from_str(params.get()).expect("JSON");
            }
            RelayEvent::Notification(..) => {}
            other => panic!("no {wanted}: {other:?}"),
        }
    }
}

fn is_pending(future: impl Future) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    std::pin::pin!(future).poll(&mut context).is_pending()
}

/// A client of 2025-11-25 creates tasks over one connection and requests them over another.
async fn legacy_tasks(era: Era, begins: &Connection, asks: &Connection, eve: &Connection) {
    for (tool, expected) in [
        ("up__job", "the job is done"),
        ("up__quick_job", "the job is done"),
        ("up__job_asks", "accepted"),
    ] {
        let params = json!({ "name": tool, "arguments": {}, "task": {} });
        let created = ask(begins, "tools/call", &params).await;
        let id = created["task"]["taskId"].as_str().expect("an id");
        let named = json!({ "taskId": id });
        let task = ask(asks, "tasks/get", &named).await;
        assert_eq!(task["taskId"], id, "{era:?} {task}");
        assert!(task.get("resultType").is_none(), "{era:?} {task}");
        for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
            let stolen = request(eve, method, &named).await;
            assert_eq!(
                stolen.expect_err("ada's task")["code"],
                -32602,
                "{era:?} {method}"
            );
        }
        let result = ask(asks, "tasks/result", &named).await;
        assert_eq!(
            result["content"][0]["text"], expected,
            "{era:?} {tool} {result}"
        );
        assert!(result.get("resultType").is_none(), "{era:?} {result}");
        let related = &result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"];
        assert_eq!(*related, id, "{era:?} {result}");
        let task = ask(asks, "tasks/get", &named).await;
        assert_eq!(task["status"], "completed", "{era:?} {task}");
        let over = request(asks, "tasks/cancel", &named).await;
        assert_eq!(over.expect_err("it is over")["code"], -32602, "{era:?}");
        for client in [begins, asks] {
            let list = ask(client, "tasks/list", &json!({})).await;
            let ids = list["tasks"].as_array().expect("tasks").iter();
            let found = ids.filter(|task| task["taskId"] == id).count();
            assert_eq!(found, 1, "{era:?} {list}");
        }
        let eves = ask(eve, "tasks/list", &json!({})).await;
        assert_eq!(eves["tasks"], json!([]), "{era:?}");
    }
}

#[tokio::test]
async fn a_legacy_client_has_tasks_of_servers_of_both_eras() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(era).await;
        let ada = as_legacy_caller(&gateway, "ada").await;
        let eve = as_legacy_caller(&gateway, "eve").await;
        let can = ada
            .server()
            .capabilities()
            .expect("capabilities")
            .tasks
            .clone();
        assert!(can.is_some_and(|tasks| tasks.list.is_some()), "{era:?}");
        let tools = ask(&ada, "tools/list", &json!({})).await;
        let tools = tools["tools"].as_array().expect("tools");
        let job = tools.iter().find(|tool| tool["name"] == "up__job");
        let support = &job.expect("a job")["execution"]["taskSupport"];
        assert_eq!(*support, "optional", "{era:?}");
        legacy_tasks(era, &ada, &ada, &eve).await;
        gateway.close().await;
    }
}

/// A replica of a gateway. Other replicas reach it through the shared stores.
async fn replica(era: Era, stores: &MemoryReplicas) -> LiveGateway {
    let stores = stores.clone();
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("up", child::spec(), UpstreamSettings::new().era(era))
        .naming(Naming::Prefixed)
        .secret(&SECRET)
        .configure_server(move |server| server.replicas(stores).secret(&SECRET))
        .open()
        .expect("a gateway");
    listen(gateway.server().clone()).await;
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn a_legacy_client_has_its_tasks_at_another_replica() {
    for era in [Era::Legacy, Era::Modern] {
        let stores = MemoryReplicas::default();
        let here = replica(era, &stores).await;
        let there = replica(era, &stores).await;
        let begins = as_legacy_caller(&here, "ada").await;
        let asks = as_legacy_caller(&there, "ada").await;
        let eve = as_legacy_caller(&there, "eve").await;
        legacy_tasks(era, &begins, &asks, &eve).await;
        // Modern clients have no such list.
        let modern_ada = as_caller(&there, "ada").await;
        let listed = request(&modern_ada, "tasks/list", &modern(&json!({}))).await;
        assert_eq!(listed.expect_err("unknown")["code"], -32601, "{era:?}");
        if era == Era::Legacy {
            // A running task is cancelled from the other replica.
            let params = json!({ "name": "up__job_asks", "arguments": {}, "task": {} });
            let created = ask(&begins, "tools/call", &params).await;
            let named = json!({ "taskId": created["task"]["taskId"] });
            let cancelled = ask(&asks, "tasks/cancel", &named).await;
            assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
            let task = ask(&begins, "tasks/get", &named).await;
            assert_eq!(task["status"], "cancelled", "{task}");
            here.close().await;
            let lost = request(&asks, "tasks/get", &named).await;
            let lost = lost.expect_err("its session has ended");
            assert!(lost.to_string().contains("is gone"), "{lost}");
        }
        there.close().await;
    }
}
