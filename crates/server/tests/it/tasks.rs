//! Tasks, as clients of 2025-11-25 and of the extension see them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{sync::Semaphore, time::timeout};
use turnbuckle_protocol::{ElicitRequestFormParams, ElicitSchema, Revision, StringSchema};
use turnbuckle_server::{
    Ask, Background, Caller, LiveServer, Progress, Reject, Server, State, TaskSettings, Tool,
    ToolError,
};

use crate::wire::{PATIENCE, Wire};

/// What the tests and the handlers share.
#[derive(Clone)]
struct Lab {
    /// A permit lets one `slow` go on.
    gate: Arc<Semaphore>,
    /// How many `slow` are alive.
    alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn slow(State(lab): State<Lab>, progress: Progress) -> &'static str {
    lab.alive.fetch_add(1, Ordering::SeqCst);
    let _alive = Alive(Arc::clone(&lab.alive));
    progress.of(1, 2).say("half").await;
    lab.gate.acquire().await.expect("the gate stays").forget();
    "done"
}

async fn quick() -> &'static str {
    "at once"
}

async fn failing() -> Result<&'static str, ToolError> {
    tokio::task::yield_now().await;
    Err(ToolError::new("no luck"))
}

async fn rejected() -> Result<&'static str, ToolError> {
    tokio::task::yield_now().await;
    Err(Reject::new(-32_603, "broken inside").into())
}

fn form(message: &str) -> ElicitRequestFormParams {
    let schema = ElicitSchema::new().with_required("name", StringSchema::default());
    ElicitRequestFormParams::new(message, schema)
}

async fn curious(Ask(ask): Ask) -> Result<String, ToolError> {
    let (first, second) = tokio::join!(
        ask.form_of("first", form("First?")),
        ask.form_of("second", form("Second?"))
    );
    let name = |answer: turnbuckle_protocol::ElicitResult| {
        serde_json::to_value(answer.content).expect("plain JSON")["name"].clone()
    };
    Ok(format!("{} and {}", name(first?), name(second?)))
}

async fn later(Ask(ask): Ask, background: Background) -> Result<String, ToolError> {
    let answer = ask.form_of("name", form("Name?")).await?;
    background.begin().await;
    let is_task = background.task_id().is_some();
    let name = serde_json::to_value(answer.content).expect("plain JSON")["name"].clone();
    Ok(format!("{name}, a task: {is_task}"))
}

fn lab() -> (Lab, LiveServer) {
    with_settings(TaskSettings::default().poll_interval(Duration::from_millis(5)))
}

fn with_settings(settings: TaskSettings) -> (Lab, LiveServer) {
    let lab = Lab {
        gate: Arc::new(Semaphore::new(0)),
        alive: Arc::default(),
    };
    let server = Server::new("lab", "1")
        .state(lab.clone())
        .tasks(settings)
        .tool(Tool::new("plain", quick))
        .tool(Tool::new("quick", quick).task())
        .tool(Tool::new("slow", slow).task())
        .tool(Tool::new("strict", slow).task_only())
        .tool(Tool::new("failing", failing).task())
        .tool(Tool::new("rejected", rejected).task())
        .tool(Tool::new("curious", curious).task())
        .tool(Tool::new("later", later).task())
        .build()
        .expect("the lab is in order");
    (lab, server)
}

/// A message, not held against the core's schema, which has no tasks extension.
async fn next(wire: &mut Wire) -> Value {
    let line = wire.next_line().await.expect("the server had more to say");
    serde_json::from_str(&line).expect("the server sends JSON")
}

async fn response(wire: &mut Wire, method: &str, params: Value) -> Value {
    let id = wire.ask(method, params).await;
    loop {
        let message = next(wire).await;
        if message["id"] == id {
            return message;
        }
        assert!(message.get("id").is_none(), "{message}");
    }
}

async fn result(wire: &mut Wire, method: &str, params: Value) -> Value {
    let mut response = response(wire, method, params).await;
    assert!(response.get("result").is_some(), "{method}: {response}");
    response["result"].take()
}

async fn error(wire: &mut Wire, method: &str, params: Value) -> Value {
    let mut response = response(wire, method, params).await;
    assert!(response.get("error").is_some(), "{method}: {response}");
    response["error"].take()
}

/// Params of a client that declares tasks, and forms.
fn declaring(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    params
}

fn call(tool: &str) -> Value {
    declaring(json!({ "name": tool, "arguments": {} }))
}

fn task(id: &Value) -> Value {
    declaring(json!({ "taskId": id }))
}

/// Looks until the task stands like this.
async fn until(wire: &mut Wire, id: &Value, status: &str) -> Value {
    let looking = async {
        loop {
            let task = result(wire, "tasks/get", task(id)).await;
            if task["status"] == status {
                return task;
            }
            let is_over =
                ["completed", "failed", "cancelled"].contains(&task["status"].as_str().unwrap());
            assert!(!is_over, "it will not be {status}: {task}");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(PATIENCE, looking).await.expect("the status comes")
}

async fn until_alive(lab: &Lab, count: usize) {
    let waiting = async {
        while lab.alive.load(Ordering::SeqCst) != count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(PATIENCE, waiting)
        .await
        .expect("the work starts or stops");
}

async fn session(server: &LiveServer, caller: Caller) -> Wire {
    let mut wire = Wire::open_as(server, caller);
    let client = json!({ "name": "wire", "version": "1" });
    let params = json!({
        "protocolVersion": "2025-11-25", "clientInfo": client,
        "capabilities": { "elicitation": { "form": {} } },
    });
    wire.speak(Revision::V2025_11_25);
    let opened = wire.result("initialize", params).await;
    let tasks = json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } });
    assert_eq!(opened["capabilities"]["tasks"], tasks);
    wire.notify("notifications/initialized", Value::Null).await;
    wire
}

// ---- the extension ----

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
    // An answer that comes twice is passed over.
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
    timeout(PATIENCE, saying).await.expect("the words come");
    lab.gate.add_permits(1);
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
async fn whoever_listens_to_a_task_hears_of_it() {
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

// ---- sessions of 2025-11-25 ----

fn as_task(tool: &str, ttl: u64) -> Value {
    json!({ "name": tool, "arguments": {}, "task": { "ttl": ttl } })
}

// rule: PC3, D2, D3, D4, D5
#[tokio::test]
async fn a_session_creates_looks_waits_lists_and_cancels() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let tools = result(&mut wire, "tools/list", json!({})).await;
    let support = |name: &str| {
        let tools = tools["tools"].as_array().unwrap().iter();
        let tool = tools.clone().find(|tool| tool["name"] == name).unwrap();
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(support("slow"), "optional");
    assert_eq!(support("strict"), "required");
    assert_eq!(support("plain"), Value::Null);

    let created = result(&mut wire, "tools/call", as_task("slow", 60_000)).await;
    let first = created["task"].clone();
    assert_eq!(first["status"], "working", "{created}");
    assert_eq!(first["ttl"], 60_000);
    assert!(created.get("resultType").is_none());
    let id = &first["taskId"];
    // tasks: the parameter wins over what `_meta` says.
    let meta = json!({ "io.modelcontextprotocol/related-task": { "taskId": "another" } });
    let seen = result(
        &mut wire,
        "tasks/get",
        json!({ "taskId": id, "_meta": meta }),
    )
    .await;
    assert_eq!((&seen["taskId"], &seen["status"]), (id, &json!("working")));
    assert!(seen.get("_meta").is_none());
    for task in [&first, &seen] {
        for time in ["createdAt", "lastUpdatedAt"] {
            assert!(task[time].is_string(), "{time} in {task}");
        }
        assert_eq!(task["ttl"], 60_000);
    }

    // Blocks until the task has ended.
    let waiting = wire.ask("tasks/result", json!({ "taskId": id })).await;
    until_alive(&lab, 1).await;
    lab.gate.add_permits(1);
    let mut payload = Value::Null;
    let mut is_told = false;
    while payload.is_null() || !is_told {
        let message = next(&mut wire).await;
        if message["id"] == waiting {
            payload = message["result"].clone();
        } else {
            assert_eq!(message["method"], "notifications/tasks/status", "{message}");
            assert_eq!(message["params"]["taskId"], *id);
            assert_eq!(message["params"]["status"], "completed");
            is_told = true;
        }
    }
    assert_eq!(payload["content"][0]["text"], "done");
    let related = &payload["_meta"]["io.modelcontextprotocol/related-task"];
    assert_eq!(*related, json!({ "taskId": id }));

    let created = result(&mut wire, "tools/call", as_task("strict", 60_000)).await;
    let second = &created["task"]["taskId"];
    let listed = result(&mut wire, "tasks/list", json!({})).await;
    let listed: Vec<_> = listed["tasks"].as_array().unwrap().iter().collect();
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0]["taskId"], &listed[1]["taskId"]), (id, second));
    until_alive(&lab, 1).await;
    let cancelled = result(&mut wire, "tasks/cancel", json!({ "taskId": second })).await;
    assert_eq!(cancelled["status"], "cancelled");
    until_alive(&lab, 0).await;
    let seen = result(&mut wire, "tasks/get", json!({ "taskId": second })).await;
    assert_eq!(seen["status"], "cancelled", "it stays so");
    for id in [id, second, &json!("nobody")] {
        let error = error(&mut wire, "tasks/cancel", json!({ "taskId": id })).await;
        assert_eq!(error["code"], -32_602);
    }
    let bad = error(&mut wire, "tasks/list", json!({ "cursor": "mine" })).await;
    assert_eq!(bad["code"], -32_602);
}

// rule: D1, D8
#[tokio::test]
async fn tools_and_calls_must_agree_on_tasks_in_a_session() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    for params in [
        as_task("plain", 1),
        json!({ "name": "strict", "arguments": {} }),
    ] {
        let error = error(&mut wire, "tools/call", params).await;
        assert_eq!(error["code"], -32_601, "{error}");
    }
    lab.gate.add_permits(1);
    assert_eq!(wire.text("slow", json!({})).await, "done");

    // A server that declares no tasks ignores the wish for one.
    let server = Server::new("plain", "1").tool(Tool::new("plain", quick));
    let server = server.build().expect("in order");
    let mut wire = Wire::at(&server, Revision::V2025_11_25).await;
    let done = result(&mut wire, "tools/call", as_task("plain", 1)).await;
    assert_eq!(done["content"][0]["text"], "at once");
}

#[tokio::test]
async fn older_sessions_have_no_tasks() {
    let (lab, server) = lab();
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
    ] {
        let mut wire = Wire::at(&server, revision).await;
        lab.gate.add_permits(1);
        let done = result(&mut wire, "tools/call", as_task("slow", 1)).await;
        assert_eq!(done["content"][0]["text"], "done");
        assert_eq!(
            wire.code("tasks/get", json!({ "taskId": "t" })).await,
            -32_601
        );
        let params = json!({ "name": "strict", "arguments": {} });
        assert_eq!(wire.code("tools/call", params).await, -32_601);
    }
}

// rule: D3
#[tokio::test]
async fn every_end_of_a_call_is_an_end_of_a_sessions_task() {
    let (_lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("failing", 60_000)).await;
    let id = &created["task"]["taskId"];
    let payload = result(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(payload["isError"], true);
    let seen = result(&mut wire, "tasks/get", json!({ "taskId": id })).await;
    // tasks: in 2025-11-25 a result with `isError` is a failure.
    assert_eq!(seen["status"], "failed");
    assert_eq!(seen["statusMessage"], "no luck");

    let created = result(&mut wire, "tools/call", as_task("rejected", 60_000)).await;
    let id = &created["task"]["taskId"];
    let refused = error(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(refused["code"], -32_603);
    assert_eq!(refused["message"], "broken inside");

    let created = result(&mut wire, "tools/call", as_task("quick", 60_000)).await;
    let id = &created["task"]["taskId"];
    let payload = result(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(payload["content"][0]["text"], "at once");
}

// rule: D4
#[tokio::test]
async fn a_session_is_asked_while_it_waits_for_the_result() {
    let (_lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("curious", 60_000)).await;
    let id = created["task"]["taskId"].clone();
    let waiting = wire.ask("tasks/result", json!({ "taskId": id })).await;
    let mut names = ["Ada", "Bob"].into_iter();
    let payload = loop {
        let message = next(&mut wire).await;
        if message["id"] == waiting && message.get("result").is_some() {
            break message;
        }
        if message["method"] != "elicitation/create" {
            assert_eq!(message["method"], "notifications/tasks/status", "{message}");
            continue;
        }
        let related = &message["params"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(*related, json!({ "taskId": id }));
        let name = names.next().expect("two questions");
        let answer = json!({ "action": "accept", "content": { "name": name } });
        wire.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }))
            .await;
    };
    let text = payload["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Ada") && text.contains("Bob"), "{text}");
}

#[tokio::test]
async fn a_question_that_a_session_refuses_fails_where_it_was_asked() {
    let (_lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("later", 60_000)).await;
    let id = created["task"]["taskId"].clone();
    let waiting = wire.ask("tasks/result", json!({ "taskId": id })).await;
    let payload = loop {
        let message = next(&mut wire).await;
        if message["method"] == "elicitation/create" {
            let error = json!({ "code": -1, "message": "not today" });
            wire.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }))
                .await;
        } else if message["id"] == waiting {
            break message;
        }
    };
    assert_eq!(payload["result"]["isError"], true, "{payload}");
    assert!(payload.to_string().contains("not today"));
}

#[tokio::test]
async fn a_task_is_gone_and_its_work_stopped_when_its_time_is_over() {
    let (lab, server) = lab();
    let mut wire = session(&server, Caller::local()).await;
    let created = result(&mut wire, "tools/call", as_task("slow", 0)).await;
    let id = created["task"]["taskId"].clone();
    assert_eq!(
        created["task"]["ttl"], 1000,
        "no client gets less than a second"
    );
    until_alive(&lab, 1).await;
    // Waits for the end of the task, which is that of its time.
    let gone = error(&mut wire, "tasks/result", json!({ "taskId": id })).await;
    assert_eq!(gone["code"], -32_602);
    until_alive(&lab, 0).await;
    let gone = error(&mut wire, "tasks/get", json!({ "taskId": id })).await;
    assert_eq!(gone["code"], -32_602);
}

#[tokio::test]
async fn a_session_with_tasks_of_its_own_is_asked_by_them_if_the_server_wants_it() {
    let server = Server::new("asker", "1")
        .tasks(TaskSettings::default().asks_by_tasks())
        .tool(Tool::new("curious", async |Ask(ask): Ask| {
            let answer = ask.form_of("name", form("Name?")).await?;
            let name = serde_json::to_value(answer.content).expect("plain JSON")["name"].clone();
            Ok::<_, ToolError>(name.to_string())
        }))
        .build()
        .expect("in order");
    let mut wire = Wire::open(&server);
    let create = json!({ "elicitation": { "create": {} } });
    let params = json!({
        "protocolVersion": "2025-11-25", "clientInfo": { "name": "wire", "version": "1" },
        "capabilities": { "elicitation": { "form": {} }, "tasks": { "requests": create } },
    });
    wire.speak(Revision::V2025_11_25);
    wire.result("initialize", params).await;
    wire.notify("notifications/initialized", Value::Null).await;

    let call = wire.ask_tool("curious", json!({})).await;
    let asked = next(&mut wire).await;
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["task"], json!({ "ttl": 3_600_000 }));
    let now = "2025-11-25T00:00:00Z";
    let task = json!({
        "taskId": "t1", "status": "working", "ttl": 60_000, "createdAt": now, "lastUpdatedAt": now,
    });
    wire.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "task": task } }))
        .await;
    let fetched = next(&mut wire).await;
    assert_eq!(fetched["method"], "tasks/result", "{fetched}");
    assert_eq!(fetched["params"]["taskId"], "t1");
    let answer = json!({
        "action": "accept", "content": { "name": "Ada" },
        "_meta": { "io.modelcontextprotocol/related-task": { "taskId": "t1" } },
    });
    wire.send(&json!({ "jsonrpc": "2.0", "id": fetched["id"], "result": answer }))
        .await;
    let done = next(&mut wire).await;
    assert_eq!(done["id"], call);
    assert_eq!(done["result"]["content"][0]["text"], "\"Ada\"");

    // Giving the call up gives the client's task up.
    let call = wire.ask_tool("curious", json!({})).await;
    let asked = next(&mut wire).await;
    let mut task = task;
    task["taskId"] = json!("t2");
    wire.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "task": task } }))
        .await;
    assert_eq!(next(&mut wire).await["method"], "tasks/result");
    wire.cancel(&json!(call)).await;
    let mut said = [next(&mut wire).await, next(&mut wire).await];
    said.sort_by_key(|message| message["method"].to_string());
    assert_eq!(said[0]["method"], "notifications/cancelled");
    assert_eq!(said[1]["method"], "tasks/cancel");
    assert_eq!(said[1]["params"]["taskId"], "t2");
}
