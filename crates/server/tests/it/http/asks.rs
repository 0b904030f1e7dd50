//! Handlers that ask questions over HTTP: with requests on the stream of the call, or in rounds.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle_protocol::{CacheScope, ElicitSchema, Revision};
use turnbuckle_server::{
    Answer, Ask as Asking, FieldError, Form, FormField as _, FormValues, Resource, Tool, ToolError,
};

use super::{
    ask::{Ask, call},
    raw::Raw,
    site::{Session, Site},
};
use crate::gate::Gate;

struct Seat {
    row: u8,
}

impl Form for Seat {
    fn schema() -> ElicitSchema {
        ElicitSchema::new().with_required("row", u8::schema())
    }

    fn read(filled: &mut FormValues) -> Result<Self, FieldError> {
        Ok(Self {
            row: filled.take("row")?,
        })
    }
}

pub(crate) async fn book(Asking(ask): Asking) -> Result<String, ToolError> {
    match ask.form::<Seat>("seat", "Which seat?").await? {
        Answer::Accepted(seat) => Ok(format!("row {}", seat.row)),
        Answer::Declined | Answer::Cancelled => Ok("no seat".into()),
    }
}

async fn site() -> Site {
    let gate = Gate::new();
    let server = gate.server().tool(Tool::new("book", book));
    Site::serving(server, gate, |http| http).await
}

pub(crate) fn accepted(id: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": id,
        "result": { "action": "accept", "content": { "row": 7 } },
    })
}

#[tokio::test]
async fn a_session_is_asked_on_the_stream_of_the_call() {
    let site = site().await;
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let capabilities = json!({ "elicitation": {} });
        let session = Session::open_with(&site, revision, capabilities).await;
        let mut stream = session.stream(call(1, "book")).await;
        let question = stream.message().await;
        assert_eq!(question["method"], "elicitation/create");
        let answer = session.post(accepted(&question["id"])).await;
        assert_eq!((answer.status(), answer.body.len()), (202, 0));
        let result = stream.message().await;
        assert_eq!(result["result"]["content"][0]["text"], "row 7");
        assert_eq!(stream.event().await, None);
    }
}

#[tokio::test]
async fn a_question_that_was_lost_on_the_way_is_replayed() {
    let site = site().await;
    let capabilities = json!({ "elicitation": {} });
    let session = Session::open_with(&site, Revision::V2025_11_25, capabilities).await;
    let mut stream = session.stream(call(1, "book")).await;
    let prime = stream
        .event()
        .await
        .and_then(|event| event.id)
        .expect("an id");
    drop(stream);
    let mut resumed = session.resume(&prime).await;
    let question = resumed.message().await;
    assert_eq!(question["method"], "elicitation/create");
    session.post(accepted(&question["id"])).await;
    assert_eq!(
        resumed.message().await["result"]["content"][0]["text"],
        "row 7"
    );
}

#[tokio::test]
async fn an_answer_from_another_session_answers_nothing() {
    let site = site().await;
    let elicitation = || json!({ "elicitation": {} });
    let session = Session::open_with(&site, Revision::V2025_06_18, elicitation()).await;
    let other = Session::open_with(&site, Revision::V2025_06_18, elicitation()).await;
    let mut stream = session.stream(call(1, "book")).await;
    let question = stream.message().await;
    let declined = json!({
        "jsonrpc": "2.0", "id": question["id"], "result": { "action": "decline" },
    });
    assert_eq!(other.post(declined).await.status(), 202);
    session.post(accepted(&question["id"])).await;
    assert_eq!(
        stream.message().await["result"]["content"][0]["text"],
        "row 7"
    );
}

/// A modern call of the tool, by a client with these capabilities.
fn round(capabilities: Value, more: Value) -> Ask {
    let mut message = super::ask::modern_message(1, "tools/call", {
        let mut params = json!({ "name": "book", "arguments": {} });
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap());
        params
    });
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    Ask::call("book", json!({})).body(message.to_string())
}

// rule: J8, N3
#[tokio::test]
async fn a_modern_client_is_asked_by_rounds() {
    let site = site().await;
    let capabilities = || json!({ "elicitation": { "form": {} } });
    let first = site.ask(round(capabilities(), json!({}))).await;
    assert_eq!(first.status(), 200);
    let result = first.json()["result"].clone();
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(
        result["inputRequests"]["seat"]["method"],
        "elicitation/create"
    );
    let answers = json!({
        "inputResponses": { "seat": { "action": "accept", "content": { "row": 7 } } },
        "requestState": result["requestState"],
    });
    let second = site.ask(round(capabilities(), answers)).await;
    assert_eq!(second.json()["result"]["content"][0]["text"], "row 7");
}

async fn page(Asking(ask): Asking) -> Result<String, ToolError> {
    match ask.form::<Seat>("seat", "Which seat?").await? {
        Answer::Accepted(seat) => Ok(format!("the view from row {}", seat.row)),
        Answer::Declined | Answer::Cancelled => Ok("no view".into()),
    }
}

fn read(uri: &str, more: Value) -> Ask {
    let mut params = json!({ "uri": uri });
    let members = params.as_object_mut().expect("an object");
    members.extend(more.as_object().cloned().expect("an object"));
    let mut message = super::ask::modern_message(1, "resources/read", params);
    let capabilities =
        &mut message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
    *capabilities = json!({ "elicitation": { "form": {} } });
    Ask::modern("resources/read", json!({ "uri": uri })).body(message.to_string())
}

// caching: a result that depends on a user's answers is private to that user.
#[tokio::test]
async fn a_read_that_came_after_an_ask_is_never_public() {
    let gate = Gate::new();
    let public = |resource: Resource| resource.cache(Duration::from_mins(1), CacheScope::Public);
    let server = gate
        .server()
        .resource(public(Resource::new(
            "view://all",
            async || "the same for all",
        )))
        .resource(public(Resource::new("view://own", page)));
    let site = Site::serving(server, gate, |http| http).await;
    let same = site.ask(read("view://all", json!({}))).await.json();
    assert_eq!(same["result"]["cacheScope"], "public", "{same}");
    let asked = site.ask(read("view://own", json!({}))).await.json();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let seat = json!({ "seat": { "action": "accept", "content": { "row": 7 } } });
    let state = &asked["result"]["requestState"];
    // With its state, and with answers alone.
    for more in [
        json!({ "inputResponses": seat, "requestState": state }),
        json!({ "inputResponses": seat }),
    ] {
        let answered = site.ask(read("view://own", more)).await.json();
        let result = &answered["result"];
        assert_eq!(result["contents"][0]["text"], "the view from row 7");
        assert_eq!(result["cacheScope"], "private", "{answered}");
    }
}

// rule: M5
// basic: a missing capability MUST be a 400 with -32021 that names it.
#[tokio::test]
async fn a_client_that_cannot_be_asked_is_told_what_is_missing() {
    let site = site().await;
    let answer = site.ask(round(json!({}), json!({}))).await;
    assert_eq!((answer.status(), answer.code()), (400, -32021));
    let required = &answer.json()["error"]["data"]["requiredCapabilities"];
    assert!(required["elicitation"].is_object(), "{required}");
    // Capabilities that an earlier request declared do not count, even on the same connection.
    let mut raw = Raw::connect(site.address).await;
    let able = round(json!({ "elicitation": { "form": {} } }), json!({}));
    assert_eq!(raw.ask(able).await.status(), 200);
    let answer = raw.ask(round(json!({}), json!({}))).await;
    assert_eq!((answer.status(), answer.code()), (400, -32021));
}

// rule: J15
#[tokio::test]
async fn a_question_whose_answer_cannot_be_read_ends_at_once() {
    let site = site().await;
    let capabilities = json!({ "elicitation": {} });
    let session = Session::open_with(&site, Revision::V2025_11_25, capabilities).await;
    for (number, answer) in [
        r#"{"id":ID,"result":{"action":"decline"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"2.0","id":ID,"method":null,"params":null}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"action":"accept","content":{"row":NaN}}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"action":"acc"#,
    ]
    .into_iter()
    .enumerate()
    {
        let mut stream = session.stream(call(number, "book")).await;
        let question = stream.message().await;
        assert_eq!(question["method"], "elicitation/create");
        let answer = answer.replace("ID", &question["id"].to_string());
        let refused = session.ask(Ask::post(&answer)).await;
        assert_eq!(refused.status(), 400, "{answer}");
        let ended = tokio::time::timeout(Duration::from_secs(20), stream.message());
        let ended = ended.await.expect("in time");
        assert_eq!(ended["id"], number, "{answer}: {ended}");
        assert!(
            ended.to_string().contains("cannot be read"),
            "{answer}: {ended}"
        );
    }
}
