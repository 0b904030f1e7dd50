//! One handler that asks questions, at every revision that supports them.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use turnbuckle::{
    Answer, Ask, CallError, Choice, Client, Form, Revision, Server, State, ToolError,
    client::Answers,
    protocol::{
        CreateMessageRequestParams, CreateMessageResult, ElicitResult, Root, SamplingMessage,
    },
    tool,
};
use turnbuckle_testing::{connect_with, record};

/// How a seat is.
#[derive(Clone, Copy, Debug, Choice)]
#[serde(rename_all = "lowercase")]
enum Place {
    Window,
    Aisle,
}

/// A seat.
#[derive(Debug, Form)]
struct Seat {
    /// Which row.
    row: u8,
    /// Where in the row.
    place: Option<Place>,
}

#[derive(Debug, Form)]
struct Name {
    name: String,
}

type Count = Arc<AtomicUsize>;

/// Books a seat: two questions one after the other, and an effect that must happen once.
#[tool]
async fn book(State(charged): State<Count>, Ask(ask): Ask) -> Result<String, ToolError> {
    let receipt = ask
        .memo("charge", async {
            Ok::<_, ToolError>(charged.fetch_add(1, Ordering::SeqCst) + 1)
        })
        .await?;
    let seat = ask.form::<Seat>("seat", "Which seat?").await?.accepted()?;
    let name = ask.form::<Name>("name", "Your name?").await?.accepted()?;
    Ok(format!(
        "{} in row {} {:?}, receipt {receipt}",
        name.name, seat.row, seat.place
    ))
}

/// Asks both at once.
#[tool]
async fn hurry(Ask(ask): Ask) -> Result<String, ToolError> {
    let seat = ask.form::<Seat>("seat", "Which seat?");
    let name = ask.form::<Name>("name", "Your name?");
    let (seat, name) = tokio::join!(seat, name);
    Ok(format!(
        "{} in row {}",
        name?.accepted()?.name,
        seat?.accepted()?.row
    ))
}

/// Lets the user say no.
#[tool]
async fn polite(Ask(ask): Ask) -> Result<String, ToolError> {
    Ok(match ask.form::<Name>("name", "Your name?").await? {
        Answer::Accepted(name) => name.name,
        Answer::Declined => "declined".into(),
        Answer::Cancelled => "cancelled".into(),
    })
}

/// Sends the user away to pay.
#[tool]
async fn pay(Ask(ask): Ask) -> Result<String, ToolError> {
    let answer = ask
        .url("pay", "Please pay.", "https://pay.example/1")
        .await?;
    answer.accepted()?;
    Ok("paid".into())
}

/// Asks the client's model, and which folders it works in.
#[tool]
async fn summarise(Ask(ask): Ask) -> Result<String, ToolError> {
    let message = SamplingMessage::user("Summarise.");
    let reply = ask
        .sample(
            "summary",
            CreateMessageRequestParams::new(vec![message], 100),
        )
        .await?;
    let roots = ask.roots("roots").await?;
    let text = reply
        .content
        .first()
        .and_then(|content| content.as_text().map(str::to_owned));
    Ok(format!("{} in {}", text.unwrap_or_default(), roots[0].uri))
}

fn server(charged: &Count) -> Server {
    Server::new("asks", "1.0.0")
        .state(Arc::clone(charged))
        .tool(book)
        .tool(hurry)
        .tool(polite)
        .tool(pay)
        .tool(summarise)
}

/// A client that answers every question.
fn helpful(asked: &Count) -> Client {
    let asked = Arc::clone(asked);
    let answers = Answers::new()
        .on_form(move |form| {
            asked.fetch_add(1, Ordering::SeqCst);
            let has_row = form.requested_schema.properties.contains_key("row");
            let content = if has_row {
                json!({"row": 7, "place": "aisle"})
            } else {
                json!({"name": "Ada"})
            };
            async move {
                Ok(
                    serde_json::from_value(json!({"action": "accept", "content": content}))
                        .unwrap(),
                )
            }
        })
        .on_url(|_| async { Ok(serde_json::from_value(json!({"action": "accept"})).unwrap()) })
        .on_sample(|_| async {
            Ok(serde_json::from_value::<CreateMessageResult>(json!({
                "role": "assistant", "model": "m", "content": {"type": "text", "text": "short"},
            }))
            .unwrap())
        })
        .roots(vec![Root::new("file:///work")]);
    Client::new("helpful", "1.0.0").answering(answers)
}

const WITH_FORMS: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

#[tokio::test]
async fn one_handler_asks_in_every_revision_that_has_forms() {
    for revision in WITH_FORMS {
        let (charged, asked) = (Count::default(), Count::default());
        let server = server(&charged).build().unwrap();
        let client = connect_with(&server, &helpful(&asked).only(revision))
            .await
            .unwrap();
        let output = client.call("book", json!({})).await.unwrap();
        assert_eq!(
            output.text(),
            "Ada in row 7 Some(Aisle), receipt 1",
            "{revision}"
        );
        assert_eq!(
            charged.load(Ordering::SeqCst),
            1,
            "charged once at {revision}"
        );
        assert_eq!(asked.load(Ordering::SeqCst), 2, "asked twice at {revision}");
    }
}

#[tokio::test]
async fn joined_asks_cost_one_round_trip() {
    let server = server(&Count::default()).build().unwrap();
    let (end, recorded) = record(&server);
    let client = helpful(&Count::default()).only(Revision::V2026_07_28);
    let client = client.connect(end).await.unwrap();
    let output = client.call("hurry", json!({})).await.unwrap();
    assert_eq!(output.text(), "Ada in row 7");
    let lines = recorded.lines();
    let calls = lines
        .iter()
        .filter(|line| line.message["method"] == "tools/call")
        .count();
    assert_eq!(calls, 2, "the call and one retry:\n{recorded}");
    for revision in WITH_FORMS {
        let client = connect_with(&server, &helpful(&Count::default()).only(revision))
            .await
            .unwrap();
        let output = client.call("hurry", json!({})).await.unwrap();
        assert_eq!(output.text(), "Ada in row 7", "{revision}");
    }
}

// rule: E11
#[tokio::test]
async fn a_declined_form_is_a_value() {
    for revision in WITH_FORMS {
        let server = server(&Count::default()).build().unwrap();
        let client = Client::new("shy", "1.0.0")
            .on_form(|_| async { Ok(ElicitResult::decline()) })
            .only(revision);
        let client = connect_with(&server, &client).await.unwrap();
        let output = client.call("polite", json!({})).await.unwrap();
        assert_eq!(output.text(), "declined", "{revision}");
    }
}

#[tokio::test]
async fn a_url_is_visited_where_the_revision_has_urls() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server = server(&Count::default()).build().unwrap();
        let client = connect_with(&server, &helpful(&Count::default()).only(revision))
            .await
            .unwrap();
        let output = client.call("pay", json!({})).await.unwrap();
        assert_eq!(output.text(), "paid", "{revision}");
    }
}

#[tokio::test]
async fn models_and_roots_are_asked_in_every_revision() {
    for &revision in Revision::ALL {
        let server = server(&Count::default()).build().unwrap();
        let client = connect_with(&server, &helpful(&Count::default()).only(revision))
            .await
            .unwrap();
        let output = client.call("summarise", json!({})).await.unwrap();
        assert_eq!(output.text(), "short in file:///work", "{revision}");
    }
}

// rule: M5
#[tokio::test]
async fn a_client_that_cannot_be_asked_learns_what_is_missing() {
    for &revision in Revision::ALL {
        let server = server(&Count::default()).build().unwrap();
        let client = Client::new("deaf", "1.0.0").only(revision);
        let client = connect_with(&server, &client).await.unwrap();
        let called = client.call("polite", json!({})).await;
        if revision.is_modern() {
            let Err(CallError::Rejected { error, .. }) = called else {
                panic!("{called:?}")
            };
            assert_eq!(error.code, -32021);
            let data = error.data.unwrap();
            assert!(
                data["requiredCapabilities"]["elicitation"].is_object(),
                "{data}"
            );
        } else {
            let output = called.unwrap();
            assert_eq!(output.is_error, Some(true), "{revision}");
            assert!(
                output.text().contains("elicitation"),
                "{revision}: {}",
                output.text()
            );
        }
    }
}

#[tokio::test]
async fn a_state_that_was_tampered_with_is_refused() {
    let server = server(&Count::default()).build().unwrap();
    let client = helpful(&Count::default()).only(Revision::V2026_07_28);
    let client = connect_with(&server, &client).await.unwrap();
    let call = async |params: serde_json::Value| {
        let raw = serde_json::value::to_raw_value(&params).unwrap();
        let result = client.request_raw("tools/call", Some(raw)).await;
        result.map(|raw| serde_json::from_str::<serde_json::Value>(raw.get()).unwrap())
    };
    let paused = call(json!({"name": "polite", "arguments": {}}))
        .await
        .unwrap();
    assert_eq!(paused["resultType"], "input_required");
    let state = paused["requestState"].as_str().unwrap().to_owned();
    let answers = json!({"name": {"action": "accept", "content": {"name": "Eve"}}});
    let retry = |name: &str, state: &str| json!({"name": name, "arguments": {}, "requestState": state, "inputResponses": answers});
    let done = call(retry("polite", &state)).await.unwrap();
    assert_eq!(done["content"][0]["text"], "Eve");
    let mut bent = state.clone().into_bytes();
    let last = bent.len() - 3;
    bent[last] = if bent[last] == b'A' { b'B' } else { b'A' };
    let bent = String::from_utf8(bent).unwrap();
    for (name, state) in [
        ("polite", &*bent),
        ("book", &*state),
        ("polite", "nonsense"),
    ] {
        let refused = call(retry(name, state)).await.unwrap_err();
        assert_eq!(refused.rejection().unwrap().code, -32602, "{name} {state}");
    }
}
