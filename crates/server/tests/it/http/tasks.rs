//! Tasks of sessions over HTTP.

use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Progress, Server, State, Tool};

use super::{
    ask::request,
    site::{Session, Site},
};
use crate::gate::Gate;

async fn slow(State(gate): State<Gate>, progress: Progress) -> &'static str {
    progress.of(1, 2).say("half").await;
    gate.pass().await;
    "done"
}

// rule: D8
// tasks: servers SHOULD NOT answer `tasks/get` with a stream, since the client polls.
#[tokio::test]
async fn polling_a_task_opens_no_stream() {
    let gate = Gate::new();
    let server = Server::new("polled", "1.0.0")
        .state(gate.clone())
        .tool(Tool::new("slow", slow).task());
    let site = Site::serving(server, gate, |http| http).await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let params = json!({
        "name": "slow", "arguments": {}, "task": { "ttl": 60_000 },
        "_meta": { "progressToken": "slow" },
    });
    let created = session.post(request(1, "tools/call", params)).await.json();
    let task = json!({ "taskId": created["result"]["task"]["taskId"] });
    site.gate.arrived(1).await;
    for (id, status) in [(2, "working"), (3, "completed")] {
        // That function asserts that the answer is JSON, and not a stream.
        let polled = session
            .post(request(id, "tasks/get", task.clone()))
            .await
            .json();
        assert_eq!(polled["result"]["status"], status, "{polled}");
        site.gate.open(1);
        let result = session
            .post(request(10 + id, "tasks/result", task.clone()))
            .await;
        assert!(result.text().contains("done"), "{}", result.text());
    }
}
