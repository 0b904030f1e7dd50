//! Trace context is passed on: from the request to the handler, and to all messages that the handler sends.

use serde_json::{Value, json};
use turnbuckle::{
    Answer, Ask, Client, Connection, Revision, Server, State, Tool, ToolError, TraceContext,
    protocol::ElicitResult,
};
use turnbuckle_testing::{Line, Side, connect, connect_at, every_revision, record};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// The trace that the handler sees, as text.
async fn told(trace: Option<TraceContext>) -> String {
    trace.map_or_else(
        || "no trace".to_owned(),
        |trace| {
            let parent = trace.parent().map(|parent| parent.to_string());
            format!("{parent:?} {:?} {:?}", trace.state(), trace.baggage())
        },
    )
}

fn server() -> Server {
    Server::new("traced", "1").tool(Tool::new("told", told))
}

every_revision! {
    async fn a_handler_can_take_its_trace(client = server()) {
        let call = client.call("told", ());
        let call = call.meta("traceparent", PARENT).meta("tracestate", "a=1").meta("baggage", "u=7");
        let expected = format!("Some({PARENT:?}) Some(\"a=1\") Some(\"u=7\")");
        assert_eq!(call.await.unwrap().text(), expected);
        assert_eq!(client.call("told", ()).await.unwrap().text(), "no trace");
    }

    // trace-context: what is malformed is ignored, and never an error.
    async fn a_malformed_trace_is_ignored(client = server()) {
        for bad in [json!("nonsense"), json!(7), json!({"a": 1}), Value::Null] {
            let call = client.call("told", ()).meta("traceparent", bad.clone()).meta("tracestate", "a=1");
            assert_eq!(call.await.unwrap().text(), "no trace", "{bad}");
        }
    }
}

/// Calls the other server in the middle of its work.
async fn relay(State(next): State<Connection>) -> Result<String, ToolError> {
    tokio::task::yield_now().await;
    Ok(next.call("told", ()).await?.text().clone())
}

#[tokio::test]
async fn a_call_made_inside_a_handler_belongs_to_the_same_trace() {
    let last = server().build().unwrap();
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let next = connect_at(&last, revision).await.unwrap();
        let first = Server::new("first", "1")
            .state(next)
            .tool(Tool::new("relay", relay));
        let first = first.build().unwrap();
        let client = connect(&first).await.unwrap();
        let call = client
            .call("relay", ())
            .meta("traceparent", PARENT)
            .meta("baggage", "u=7");
        let expected = format!("Some({PARENT:?}) None Some(\"u=7\")");
        assert_eq!(call.await.unwrap().text(), expected, "{revision}");
        // The next call belongs to no trace, and none is left over from the call before.
        assert_eq!(client.call("relay", ()).await.unwrap().text(), "no trace");
    }
}

#[derive(serde::Deserialize, turnbuckle::Form)]
struct Name {
    name: String,
}

async fn ask(Ask(ask): Ask) -> Result<String, ToolError> {
    match ask.form::<Name>("name", "Who?").await? {
        Answer::Accepted(answer) => Ok(answer.name),
        _ => Ok("nobody".into()),
    }
}

#[tokio::test]
async fn what_a_server_asks_in_a_session_carries_the_trace_on() {
    let server = Server::new("asking", "1")
        .tool(Tool::new("ask", ask))
        .build()
        .unwrap();
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let (pipe, recorded) = record(&server);
        let client = Client::new("host", "1")
            .only(revision)
            .on_form(|_| async { Ok(ElicitResult::accept([("name", "Ada")])) });
        let client = client.connect(pipe).await.unwrap();
        let output = client
            .call("ask", ())
            .meta("traceparent", PARENT)
            .await
            .unwrap();
        assert_eq!(output.text(), "Ada");
        let asked = recorded.lines().into_iter().find(is_question).unwrap();
        assert_eq!(
            asked.message["params"]["_meta"]["traceparent"], PARENT,
            "{revision}"
        );
    }
}

fn is_question(line: &Line) -> bool {
    line.from == Side::Server && line.message["method"] == "elicitation/create"
}
