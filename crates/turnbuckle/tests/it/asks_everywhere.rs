//! Questions in tools, prompts and resources, at every revision, over line transports and over HTTP.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use turnbuckle::{
    Answer, Ask, Asker, CallError, Client, Connection, Form, LiveServer, Revision, Server, State,
    ToolError,
    client::Answers,
    prompt,
    protocol::{CreateMessageRequestParams, CreateMessageResult, ElicitResult, Root},
    resource, tool,
};
use turnbuckle_server::Http;
use turnbuckle_testing::connect_with;

type Count = Arc<AtomicUsize>;

#[derive(Form)]
struct Name {
    #[form(min_length = 2)]
    name: String,
}

#[derive(Form)]
struct Row {
    row: u8,
}

/// Asks one question after the other, with an effect between them that must happen once.
async fn in_order(ask: &Asker, effects: &Count) -> Result<String, ToolError> {
    let name = ask.form::<Name>("name", "Your name?").await?.accepted()?;
    let receipt = ask
        .memo("receipt", async {
            Ok::<_, ToolError>(effects.fetch_add(1, Ordering::SeqCst) + 1)
        })
        .await?;
    let row = ask.form::<Row>("row", "Which row?").await?;
    Ok(match row {
        Answer::Accepted(row) => format!("{} in {}, receipt {receipt}", name.name, row.row),
        Answer::Declined => format!("{} stands", name.name),
        Answer::Cancelled => format!("{} left", name.name),
    })
}

/// Asks all questions at once: questions that every revision supports.
async fn at_once(ask: &Asker) -> Result<String, ToolError> {
    let request = CreateMessageRequestParams::new(vec![], 10);
    let (said, roots) = tokio::join!(ask.sample("said", request), ask.roots("roots"));
    let (said, roots) = (said?, roots?);
    let said = said.content.first().and_then(|content| content.as_text());
    Ok(format!("{} in {}", said.unwrap_or_default(), roots[0].uri))
}

mod tools {
    use super::*;

    #[tool]
    pub(super) async fn order(
        State(effects): State<Count>,
        Ask(ask): Ask,
    ) -> Result<String, ToolError> {
        in_order(&ask, &effects).await
    }

    #[tool]
    pub(super) async fn once(Ask(ask): Ask) -> Result<String, ToolError> {
        at_once(&ask).await
    }
}

mod prompts {
    use super::*;

    #[prompt]
    pub(super) async fn order(
        State(effects): State<Count>,
        Ask(ask): Ask,
    ) -> Result<String, ToolError> {
        in_order(&ask, &effects).await
    }

    #[prompt]
    pub(super) async fn once(Ask(ask): Ask) -> Result<String, ToolError> {
        at_once(&ask).await
    }
}

mod resources {
    use super::*;

    #[resource("ask://order")]
    pub(super) async fn order(
        State(effects): State<Count>,
        Ask(ask): Ask,
    ) -> Result<String, ToolError> {
        in_order(&ask, &effects).await
    }

    #[resource("ask://once")]
    pub(super) async fn once(Ask(ask): Ask) -> Result<String, ToolError> {
        at_once(&ask).await
    }
}

fn server(effects: &Count) -> LiveServer {
    Server::new("asks", "1.0.0")
        .state(Arc::clone(effects))
        .tool(tools::order)
        .tool(tools::once)
        .prompt(prompts::order)
        .prompt(prompts::once)
        .resource(resources::order)
        .resource(resources::once)
        .build()
        .unwrap()
}

/// The kind of handler that is called.
#[derive(Clone, Copy, Debug)]
enum Place {
    Tool,
    Prompt,
    Resource,
}

const PLACES: [Place; 3] = [Place::Tool, Place::Prompt, Place::Resource];

impl Place {
    async fn call(self, client: &Connection, name: &str) -> Result<String, CallError> {
        let read = |value: Value, pointer: &str| {
            let text = value.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_else(|| panic!("{value}")).to_owned()
        };
        Ok(match self {
            Self::Tool => client.call(name, json!({})).await?.text(),
            Self::Prompt => {
                let result = client.get(name, json!({})).await?;
                read(
                    serde_json::to_value(result).unwrap(),
                    "/messages/0/content/text",
                )
            }
            Self::Resource => {
                let result = client.read(format!("ask://{name}")).await?;
                read(serde_json::to_value(result).unwrap(), "/contents/0/text")
            }
        })
    }

    fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/call",
            Self::Prompt => "prompts/get",
            Self::Resource => "resources/read",
        }
    }

    fn params(self, name: &str) -> Value {
        match self {
            Self::Tool | Self::Prompt => json!({"name": name}),
            Self::Resource => json!({"uri": format!("ask://{name}")}),
        }
    }
}

/// The transport.
#[derive(Clone, Copy, Debug)]
enum Road {
    Lines,
    Http,
}

const ROADS: [Road; 2] = [Road::Lines, Road::Http];

impl Road {
    /// Connects a client. The server runs until the second value is dropped.
    async fn connect(
        self,
        server: &LiveServer,
        client: &Client,
    ) -> (Connection, impl Drop + use<>) {
        if let Self::Lines = self {
            return (connect_with(server, client).await.unwrap(), Stop(None));
        }
        let (announce, announced) = tokio::sync::oneshot::channel();
        let http = Http::bind("127.0.0.1:0").announce(|address| {
            let _ = announce.send(address);
        });
        let live = server.clone();
        let serving = tokio::spawn(async move { live.serve(http).await });
        let address = announced.await.unwrap().unwrap();
        let client = client.connect(format!("http://{address}/mcp")).await;
        (client.unwrap(), Stop(Some(serving)))
    }
}

struct Stop<T>(Option<tokio::task::JoinHandle<T>>);

impl<T> Drop for Stop<T> {
    fn drop(&mut self) {
        if let Some(serving) = &self.0 {
            serving.abort();
        }
    }
}

const WITH_FORMS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

/// Answers every question; `row` gives the answer to the question for a row.
fn answers(row: fn() -> ElicitResult) -> Answers {
    Answers::new()
        .on_form(move |form| async move {
            let is_row = form.requested_schema.properties.contains_key("row");
            Ok(if is_row {
                row()
            } else {
                accept(&json!({"name": "Ada"}))
            })
        })
        .on_sample(|_| async { Ok(CreateMessageResult::new("m", "short")) })
        .roots(vec![Root::new("file:///work")])
}

fn accept(content: &Value) -> ElicitResult {
    serde_json::from_value(json!({"action": "accept", "content": content})).unwrap()
}

/// Calls every kind of handler over every transport at these revisions.
async fn everywhere(
    revisions: &[Revision],
    name: &str,
    row: fn() -> ElicitResult,
    expected: impl Fn(usize) -> String,
) {
    for road in ROADS {
        for revision in revisions {
            let effects = Count::default();
            let server = server(&effects);
            let client = Client::new("helpful", "1.0.0").answering(answers(row));
            let (client, _running) = road.connect(&server, &client.only(*revision)).await;
            for (number, place) in PLACES.into_iter().enumerate() {
                let said = place.call(&client, name).await;
                let said =
                    said.unwrap_or_else(|error| panic!("{place:?} {road:?} {revision}: {error}"));
                assert_eq!(said, expected(number + 1), "{place:?} {road:?} {revision}");
            }
        }
    }
}

#[tokio::test]
async fn sequential_asks_keep_earlier_answers_and_effects() {
    let row = || accept(&json!({"row": 7}));
    everywhere(&WITH_FORMS, "order", row, |receipt| {
        format!("Ada in 7, receipt {receipt}")
    })
    .await;
}

#[tokio::test]
async fn joined_asks_are_answered_in_every_revision() {
    let row = ElicitResult::cancel;
    everywhere(Revision::ALL, "once", row, |_| {
        "short in file:///work".into()
    })
    .await;
}

#[tokio::test]
async fn what_a_person_declines_is_a_value_to_match() {
    everywhere(&WITH_FORMS, "order", ElicitResult::decline, |_| {
        "Ada stands".into()
    })
    .await;
    everywhere(&WITH_FORMS, "order", ElicitResult::cancel, |_| {
        "Ada left".into()
    })
    .await;
}

/// Sends the requests of a modern client exactly as they are written here.
struct Raw(Connection);

impl Raw {
    async fn send(&self, place: Place, name: &str, more: &Value) -> Result<Value, CallError> {
        let mut params = place.params(name);
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap());
        let raw = serde_json::value::to_raw_value(&params).unwrap();
        let result = self.0.request_raw(place.method(), Some(raw)).await?;
        Ok(serde_json::from_str(result.get()).unwrap())
    }
}

async fn modern(test: impl AsyncFn(Raw, Place)) {
    for road in ROADS {
        let server = server(&Count::default());
        let client = Client::new("raw", "1.0.0").answering(answers(ElicitResult::cancel));
        for place in PLACES {
            let client = client.clone().only(Revision::V2026_07_28);
            let (client, _running) = road.connect(&server, &client).await;
            test(Raw(client), place).await;
        }
    }
}

fn asked(result: &Value) -> Vec<&str> {
    assert_eq!(result["resultType"], "input_required", "{result}");
    let requests = result["inputRequests"].as_object().unwrap();
    requests.keys().map(String::as_str).collect()
}

// mrtr: questions that are joined go out in one result.
#[tokio::test]
async fn joined_asks_cost_one_round_trip_and_a_missing_answer_is_asked_again() {
    modern(async |client, place| {
        let first = client.send(place, "once", &json!({})).await.unwrap();
        assert_eq!(asked(&first), ["said", "roots"]);
        let roots = json!({"roots": [{"uri": "file:///work"}]});
        let partial = json!({
            "requestState": first["requestState"], "inputResponses": {"roots": roots},
        });
        let second = client.send(place, "once", &partial).await.unwrap();
        assert_eq!(asked(&second), ["said"], "the other answer is kept");
        let none = json!({"requestState": second["requestState"]});
        let third = client.send(place, "once", &none).await.unwrap();
        assert_eq!(asked(&third), ["said"]);
        let said =
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}});
        let rest = json!({
            "requestState": third["requestState"], "inputResponses": {"said": said},
        });
        let last = client.send(place, "once", &rest).await.unwrap();
        assert_eq!(last["resultType"], "complete", "{last}");
    })
    .await;
}

// mrtr: unknown keys SHOULD be ignored.
#[tokio::test]
async fn an_answer_to_what_was_not_asked_is_passed_over() {
    modern(async |client, place| {
        let first = client.send(place, "order", &json!({})).await.unwrap();
        let stray = json!({
            "requestState": first["requestState"],
            "inputResponses": {
                "name": {"action": "accept", "content": {"name": "Ada"}},
                "row": {"action": "accept", "content": {"row": 3}},
                "other": 7,
            },
        });
        let second = client.send(place, "order", &stray).await.unwrap();
        assert_eq!(
            asked(&second),
            ["row"],
            "what was not asked yet has no answer"
        );
    })
    .await;
}

// rule: E11
// mrtr: a malformed answer is a JSON-RPC error.
#[tokio::test]
async fn an_answer_that_does_not_fit_is_an_error_of_the_protocol() {
    modern(async |client, place| {
        for answer in [
            json!(7),
            json!({"action": "shrug"}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"name": 7}}),
            json!({"action": "accept", "content": {"name": "A"}}),
            json!({"roots": []}),
        ] {
            let first = client.send(place, "order", &json!({})).await.unwrap();
            let bad = json!({
                "requestState": first["requestState"], "inputResponses": {"name": answer},
            });
            let refused = client.send(place, "order", &bad).await.unwrap_err();
            let error = refused.rejection().unwrap_or_else(|| panic!("{refused}"));
            assert_eq!(error.code, -32602, "{place:?} {answer}");
            assert!(error.message.contains("`name`"), "{}", error.message);
        }
        let first = client.send(place, "order", &json!({})).await.unwrap();
        let bad = json!({"requestState": first["requestState"], "inputResponses": []});
        let refused = client.send(place, "order", &bad).await.unwrap_err();
        assert_eq!(refused.rejection().unwrap().code, -32602);
    })
    .await;
}

/// A hand-written session whose client gives this answer.
async fn session(server: &LiveServer, revision: Revision, place: Place, answer: &Value) -> Value {
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    let turnbuckle::transport::Duplex { reader, mut writer } = server.connect();
    let mut lines = BufReader::new(reader).lines();
    let mut say = async |message: Value| {
        let line = format!("{message}\n");
        writer.write_all(line.as_bytes()).await.unwrap();
    };
    say(
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": revision.as_str(), "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "odd", "version": "1"},
        }}),
    )
    .await;
    lines.next_line().await.unwrap();
    say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    let params = place.params("order");
    say(json!({"jsonrpc": "2.0", "id": 1, "method": place.method(), "params": params})).await;
    let asked: Value = serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    say(json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer})).await;
    serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap()
}

#[tokio::test]
async fn a_session_that_answers_something_else_is_told_so() {
    let server = server(&Count::default());
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        for place in PLACES {
            for answer in [
                json!({"action": "shrug"}),
                json!({"action": "accept", "content": {"name": 7}}),
                json!({"roots": []}),
            ] {
                let response = session(&server, revision, place, &answer).await;
                assert_eq!(response["id"], 1, "{response}");
                let code = &response["error"]["code"];
                assert_eq!(*code, -32602, "{place:?} {revision} {answer}: {response}");
            }
        }
    }
}
