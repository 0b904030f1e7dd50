//! Tasks over real sockets: the client that started a task leaves, and another client continues it.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::sync::{Semaphore, oneshot};
use turnbuckle::{
    CallError, Caller, Client, Revision, Server, State, TaskSettings,
    client::{Started, TaskTicket},
    protocol::TaskStatus,
    tool,
};
use turnbuckle_server::{Http, LiveServer};

type Gate = Arc<Semaphore>;

/// Builds something.
#[tool(task)]
async fn build(State(gate): State<Gate>, target: String) -> String {
    gate.acquire().await.expect("the gate stays").forget();
    format!("built {target}")
}

async fn serve() -> (Gate, LiveServer, String) {
    let gate: Gate = Arc::new(Semaphore::new(0));
    let settings = TaskSettings::default().poll_interval(Duration::from_millis(10));
    let server = Server::new("yard", "1")
        .state(gate.clone())
        .tasks(settings)
        .tool(build)
        .build()
        .expect("the yard is in order");
    let (tell, told) = oneshot::channel();
    let http = Http::bind("127.0.0.1:0").announce(|address| {
        let _ = tell.send(address);
    });
    let served = server.clone();
    tokio::spawn(async move { served.serve(http).await });
    let address = told.await.expect("it listens").expect("on a port");
    let address = format!("http://{address}/mcp");
    (gate, server, address)
}

#[tokio::test]
async fn a_task_outlives_the_connection_that_started_it() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (gate, _server, address) = serve().await;
        let client = Client::new("builder", "1").only(revision);
        let first = client.connect(&*address).await.expect("it answers");
        let started = first.call("build", json!({ "target": "all" })).task().await;
        let Started::Task(task) = started.expect("it starts") else {
            panic!("{revision}: a task")
        };
        let kept = serde_json::to_string(task.ticket()).expect("plain JSON");
        drop(task);
        first.close().await;
        drop(first);

        let ticket: TaskTicket = serde_json::from_str(&kept).expect("plain JSON");
        let second = client.connect(&*address).await.expect("it answers");
        let mut task = second.task(ticket.clone());
        let seen = task.status().await.expect("it is there");
        assert_eq!(seen.status, TaskStatus::Working, "{revision}");
        gate.add_permits(1);
        let output = task.result().await.expect("it is built");
        assert_eq!(output.text(), "built all", "{revision}");

        // Tasks of other callers do not exist for a caller; without authorization the id is the
        // only key.
        let guessed = TaskTicket {
            task_id: "guessed".into(),
            ..ticket
        };
        let error = second
            .task(guessed)
            .status()
            .await
            .expect_err("it is not there");
        assert!(matches!(error, CallError::Rejected { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_plain_call_over_http_waits_for_its_task() {
    let (gate, server, address) = serve().await;
    gate.add_permits(1);
    let client = Client::new("builder", "1");
    let connection = client.connect(&*address).await.expect("it answers");
    let output = connection.call("build", json!({ "target": "all" })).await;
    assert_eq!(output.expect("it is built").text(), "built all");
    // An authenticated caller has tasks of its own.
    let ada = client.connect(server.connect_as(Caller::new("ada"))).await;
    let ada = ada.expect("it answers");
    let started = ada.call("build", json!({ "target": "hers" })).task().await;
    let Started::Task(task) = started.expect("it starts") else {
        panic!("a task")
    };
    let error = connection.task(task.ticket().clone()).status().await;
    assert!(
        matches!(error, Err(CallError::Rejected { .. })),
        "{error:?}"
    );
}
