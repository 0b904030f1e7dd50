//! Tasks of servers on stdio: the process of a task is kept for it, and no other process is asked.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use turnbuckle_client::{Connection, Era};
use turnbuckle_gateway::{
    Gateway, Isolation, LiveGateway, Naming, UpstreamSettings, operation::Operation,
};
use turnbuckle_store::{MemoryReplicas, ReplicaStores};

use crate::{
    by_hand::{as_caller, as_legacy_caller, call, request, text},
    site::listen,
    task_child,
};

/// The secret that the replicas of a gateway share.
const SECRET: [u8; 32] = [7; 32];

pub(crate) async fn gateway(settings: UpstreamSettings) -> LiveGateway {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("up", task_child::spec(), settings)
        .naming(Naming::Prefixed)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

/// A replica of a gateway.
pub(crate) async fn replica(era: Era, stores: impl Into<ReplicaStores>) -> LiveGateway {
    replica_with(era, stores, |gateway| gateway).await
}

async fn replica_with(
    era: Era,
    stores: impl Into<ReplicaStores>,
    set: impl FnOnce(Gateway) -> Gateway,
) -> LiveGateway {
    let stores = stores.into();
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("up", task_child::spec(), UpstreamSettings::new().era(era))
        .naming(Naming::Prefixed)
        .secret(&SECRET);
    let gateway = set(gateway)
        .configure_server(move |server| server.replicas(stores).secret(&SECRET))
        .open()
        .expect("a gateway");
    listen(gateway.server().clone()).await;
    gateway.settled().await;
    gateway
}

/// The params of a modern client that supports tasks.
fn modern(more: &Value) -> Value {
    let mut params = call("", more);
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params
}

/// Creates a task for a modern client. Returns params that name it.
async fn begin(client: &Connection, who: &str) -> Value {
    let job = modern(&json!({ "name": "up__job", "arguments": { "who": who } }));
    let created = request(client, "tools/call", &job).await.expect("a task");
    assert_eq!(created["resultType"], "task", "{created}");
    modern(&json!({ "taskId": created["taskId"] }))
}

/// The same for a legacy client.
pub(crate) async fn begin_legacy(client: &Connection, who: &str) -> Value {
    let job = json!({ "name": "up__job", "arguments": { "who": who }, "task": {} });
    let created = request(client, "tools/call", &job).await.expect("a task");
    json!({ "taskId": created["task"]["taskId"] })
}

async fn pid(client: &Connection) -> String {
    let pid = modern(&json!({ "name": "up__pid" }));
    let result = request(client, "tools/call", &pid).await.expect("a number");
    text(&result).to_owned()
}

/// The status message of a task.
async fn message(client: &Connection, task: &Value) -> String {
    let task = request(client, "tasks/get", task).await.expect("the task");
    assert_eq!(task["status"], "working", "{task}");
    task["statusMessage"].as_str().expect("a text").to_owned()
}

fn assert_gone(asked: &Result<Value, Value>) {
    let error = asked.as_ref().expect_err("it is gone");
    assert_eq!(error["code"], -32602, "{error}");
    assert!(error.to_string().contains("gone"), "{error}");
}

#[tokio::test]
async fn the_task_of_a_process_that_died_is_not_that_of_the_next_process() {
    let gateway = gateway(UpstreamSettings::new().era(Era::Modern)).await;
    let ada = as_caller(&gateway, "ada").await;
    let eve = as_caller(&gateway, "eve").await;
    let adas = begin(&ada, "ada").await;
    assert!(message(&ada, &adas).await.starts_with("ada "));
    let died = request(&ada, "tools/call", &modern(&json!({ "name": "up__die" }))).await;
    died.expect_err("its process is dead");
    let eves = begin(&eve, "eve").await;
    for method in ["tasks/get", "tasks/cancel"] {
        assert_gone(&request(&ada, method, &adas).await);
    }
    assert!(message(&eve, &eves).await.starts_with("eve "));
    gateway.close().await;
}

#[tokio::test]
async fn the_task_of_a_replica_that_ended_is_not_that_of_another_replica() {
    let stores = MemoryReplicas::default();
    let here = replica(Era::Modern, stores.clone()).await;
    let there = replica(Era::Modern, stores).await;
    let ada = as_caller(&here, "ada").await;
    let adas = begin(&ada, "ada").await;
    let legacy_ada = as_legacy_caller(&here, "ada").await;
    let legacy_adas = begin_legacy(&legacy_ada, "ada").await;
    let eve = as_caller(&there, "eve").await;
    let eves = [begin(&eve, "eve").await, begin(&eve, "eve").await];
    let ada = as_caller(&there, "ada").await;
    let legacy_ada = as_legacy_caller(&there, "ada").await;
    assert!(message(&ada, &adas).await.starts_with("ada "));
    assert!(message(&legacy_ada, &legacy_adas).await.starts_with("ada "));
    here.close().await;
    for method in ["tasks/get", "tasks/cancel"] {
        assert_gone(&request(&ada, method, &adas).await);
        assert_gone(&request(&legacy_ada, method, &legacy_adas).await);
    }
    for task in eves {
        assert!(message(&eve, &task).await.starts_with("eve "));
    }
    there.close().await;
}

#[tokio::test]
async fn the_process_of_a_task_is_not_ended_to_make_room() {
    for era in [Era::Legacy, Era::Modern] {
        // One process reads the lists, and two are for callers.
        let settings = UpstreamSettings::new().isolation(Isolation::Caller);
        let gateway = gateway(settings.max_processes(3).era(era)).await;
        let ada = as_caller(&gateway, "ada").await;
        let adas = begin(&ada, "ada").await;
        let runs_at = message(&ada, &adas).await;
        // Ada's process has been idle for longer than bob's when another one is needed.
        let first = pid(&as_caller(&gateway, "bob").await).await;
        let second = pid(&as_caller(&gateway, "eve").await).await;
        assert_ne!(first, second);
        assert_eq!(message(&ada, &adas).await, runs_at, "{era:?}");
        assert_eq!(runs_at, format!("ada {}", pid(&ada).await), "{era:?}");
        gateway.close().await;
    }
}

#[tokio::test]
async fn the_process_of_a_task_that_is_over_makes_room_when_it_must() {
    for (era, isolation) in [
        (Era::Legacy, Isolation::Caller),
        (Era::Modern, Isolation::Caller),
        (Era::Legacy, Isolation::Call),
        (Era::Modern, Isolation::Call),
    ] {
        // One process reads the lists, and one is for callers.
        let settings = UpstreamSettings::new().isolation(isolation);
        let gateway = gateway(settings.max_processes(2).era(era)).await;
        let ada = as_caller(&gateway, "ada").await;
        let adas = begin(&ada, "ada").await;
        let cancelled = request(&ada, "tasks/cancel", &adas).await;
        cancelled.expect("it is cancelled");
        // No other call needs its place yet.
        let task = request(&ada, "tasks/get", &adas).await.expect("the task");
        assert_eq!(task["status"], "cancelled", "{era:?} {isolation:?} {task}");
        let eve = as_caller(&gateway, "eve").await;
        let served = tokio::time::timeout(Duration::from_secs(20), pid(&eve)).await;
        served.unwrap_or_else(|_| panic!("there is no room: {era:?} {isolation:?}"));
        assert_gone(&request(&ada, "tasks/get", &adas).await);
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_process_that_died_makes_room_though_a_task_was_in_it() {
    let settings = UpstreamSettings::new().isolation(Isolation::Caller);
    let gateway = gateway(settings.max_processes(2).era(Era::Modern)).await;
    let ada = as_caller(&gateway, "ada").await;
    let adas = begin(&ada, "ada").await;
    let died = request(&ada, "tools/call", &modern(&json!({ "name": "up__die" }))).await;
    died.expect_err("its process is dead");
    let eve = as_caller(&gateway, "eve").await;
    let served = tokio::time::timeout(Duration::from_secs(20), pid(&eve)).await;
    served.expect("there is room");
    assert_gone(&request(&ada, "tasks/get", &adas).await);
    gateway.close().await;
}

#[tokio::test]
async fn a_task_runs_on_where_each_call_has_a_process_of_its_own() {
    for era in [Era::Legacy, Era::Modern] {
        let settings = UpstreamSettings::new().isolation(Isolation::Call);
        let gateway = gateway(settings.era(era)).await;
        let ada = as_caller(&gateway, "ada").await;
        let adas = begin(&ada, "ada").await;
        let runs_at = message(&ada, &adas).await;
        assert_ne!(runs_at, format!("ada {}", pid(&ada).await), "{era:?}");
        assert_eq!(message(&ada, &adas).await, runs_at, "{era:?}");
        let cancelled = request(&ada, "tasks/cancel", &adas).await;
        cancelled.expect("it is cancelled");
        let task = request(&ada, "tasks/get", &adas).await.expect("the task");
        assert_eq!(task["status"], "cancelled", "{era:?} {task}");
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_request_of_a_client_is_counted_where_it_arrives() {
    let stores = MemoryReplicas::default();
    let operations = [Arc::new(Operation::new()), Arc::new(Operation::new())];
    let [here, there] = operations.each_ref().map(|operation| {
        let (stores, operation) = (stores.clone(), Arc::clone(operation));
        replica_with(Era::Modern, stores, |it| it.operation(operation))
    });
    let (here, there) = (here.await, there.await);
    let task = begin_legacy(&as_legacy_caller(&here, "ada").await, "ada").await;
    let asks = as_legacy_caller(&there, "ada").await;
    message(&asks, &task).await;
    request(&asks, "tasks/list", &json!({}))
        .await
        .expect("a list");
    for method in ["tasks/get", "tasks/list"] {
        let counted = operations.each_ref().map(|operation| {
            let metrics = operation.metrics_text();
            metrics.contains(method)
        });
        assert_eq!(counted, [false, true], "{method}");
    }
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn a_cancellation_that_a_server_refuses_is_refused_at_each_replica() {
    let stores = MemoryReplicas::default();
    let here = replica(Era::Legacy, stores.clone()).await;
    let there = replica(Era::Legacy, stores).await;
    let begins = as_legacy_caller(&here, "ada").await;
    let task = begin_legacy(&begins, "stubborn").await;
    for asks in [&begins, &as_legacy_caller(&there, "ada").await] {
        let refused = request(asks, "tasks/cancel", &task).await;
        let refused = refused.expect_err("it runs on");
        assert_eq!(refused["code"], -32602, "{refused}");
        assert!(message(asks, &task).await.starts_with("stubborn "));
    }
    here.close().await;
    there.close().await;
}
