//! Tools whose calls become tasks, and functions with which the tests call them.

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

use crate::wire::{TIMEOUT, Wire};

/// The state that the tests and the handlers share.
#[derive(Clone)]
pub(super) struct Lab {
    /// A permit lets one `slow` continue.
    pub(super) gate: Arc<Semaphore>,
    /// How many `slow` are running.
    pub(super) alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) async fn slow(State(lab): State<Lab>, progress: Progress) -> &'static str {
    lab.alive.fetch_add(1, Ordering::SeqCst);
    let _alive = Alive(Arc::clone(&lab.alive));
    progress.of(1, 2).say("half").await;
    lab.gate.acquire().await.expect("the gate stays").forget();
    "done"
}

/// Reports a step for each of two permits, and one more for the third, when the call has ended long
/// ago.
pub(super) async fn steps(State(lab): State<Lab>, progress: Progress) -> &'static str {
    for step in 1..=2 {
        lab.gate.acquire().await.expect("the gate stays").forget();
        progress.of(step, 2).await;
    }
    lab.alive.fetch_add(1, Ordering::SeqCst);
    tokio::spawn(async move {
        let _alive = Alive(Arc::clone(&lab.alive));
        lab.gate.acquire().await.expect("the gate stays").forget();
        progress.at(3).await;
    });
    "done"
}

pub(super) async fn quick() -> &'static str {
    "at once"
}

pub(super) async fn failing() -> Result<&'static str, ToolError> {
    tokio::task::yield_now().await;
    Err(ToolError::new("no luck"))
}

pub(super) async fn rejected() -> Result<&'static str, ToolError> {
    tokio::task::yield_now().await;
    Err(Reject::new(-32_603, "broken inside").into())
}

pub(super) fn form(message: &str) -> ElicitRequestFormParams {
    let schema = ElicitSchema::new().with_required("name", StringSchema::default());
    ElicitRequestFormParams::new(message, schema)
}

pub(super) async fn curious(Ask(ask): Ask) -> Result<String, ToolError> {
    let (first, second) = tokio::join!(
        ask.form_of("first", form("First?")),
        ask.form_of("second", form("Second?"))
    );
    let name = |answer: turnbuckle_protocol::ElicitResult| {
        serde_json::to_value(answer.content).expect("plain JSON")["name"].clone()
    };
    Ok(format!("{} and {}", name(first?), name(second?)))
}

pub(super) async fn later(Ask(ask): Ask, background: Background) -> Result<String, ToolError> {
    let answer = ask.form_of("name", form("Name?")).await?;
    background.begin().await;
    let is_task = background.task_id().is_some();
    let name = serde_json::to_value(answer.content).expect("plain JSON")["name"].clone();
    Ok(format!("{name}, a task: {is_task}"))
}

pub(super) fn lab() -> (Lab, LiveServer) {
    with_settings(TaskSettings::default().poll_interval(Duration::from_millis(5)))
}

pub(super) fn with_settings(settings: TaskSettings) -> (Lab, LiveServer) {
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
        .tool(Tool::new("steps", steps).task())
        .tool(Tool::new("failing", failing).task())
        .tool(Tool::new("rejected", rejected).task())
        .tool(Tool::new("curious", curious).task())
        .tool(Tool::new("later", later).task())
        .build()
        .expect("the lab is in order");
    (lab, server)
}

/// Returns the next message. It is not compared with the core's schema, which has no tasks
/// extension.
pub(super) async fn next(wire: &mut Wire) -> Value {
    let line = wire.next_line().await.expect("the server had more to say");
    serde_json::from_str(&line).expect("the server sends JSON")
}

pub(super) async fn response(wire: &mut Wire, method: &str, params: Value) -> Value {
    let id = wire.ask(method, params).await;
    loop {
        let message = next(wire).await;
        if message["id"] == id {
            return message;
        }
        assert!(message.get("id").is_none(), "{message}");
    }
}

pub(super) async fn result(wire: &mut Wire, method: &str, params: Value) -> Value {
    let mut response = response(wire, method, params).await;
    assert!(response.get("result").is_some(), "{method}: {response}");
    response["result"].take()
}

pub(super) async fn error(wire: &mut Wire, method: &str, params: Value) -> Value {
    let mut response = response(wire, method, params).await;
    assert!(response.get("error").is_some(), "{method}: {response}");
    response["error"].take()
}

/// Adds the capabilities of a client that declares tasks and forms.
pub(super) fn declaring(mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({
        "elicitation": { "form": {} },
        "extensions": { "io.modelcontextprotocol/tasks": {} },
    });
    params
}

pub(super) fn call(tool: &str) -> Value {
    declaring(json!({ "name": tool, "arguments": {} }))
}

pub(super) fn task(id: &Value) -> Value {
    declaring(json!({ "taskId": id }))
}

/// Polls until the task has this status.
pub(super) async fn until(wire: &mut Wire, id: &Value, status: &str) -> Value {
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
    timeout(TIMEOUT, looking).await.expect("the status comes")
}

pub(super) async fn until_alive(lab: &Lab, count: usize) {
    let waiting = async {
        while lab.alive.load(Ordering::SeqCst) != count {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(TIMEOUT, waiting)
        .await
        .expect("the work starts or stops");
}

pub(super) async fn session(server: &LiveServer, caller: Caller) -> Wire {
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
