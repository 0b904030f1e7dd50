//! Servers that ask questions, at every revision and across processes.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};
use turnbuckle::{
    Revision,
    client::{Answers, Client, Connection},
    protocol::{CreateMessageResult, ElicitResult},
    transport,
};

use crate::program::{connect_as, example};

fn client() -> Client {
    let answers = Answers::new()
        .on_form(|form| async move {
            let is_seat = form.requested_schema.properties.contains_key("row");
            let content = if is_seat {
                json!({"row": 7, "place": "window"})
            } else {
                json!({"name": "Ada", "mail": "ada@engine.example"})
            };
            Ok(serde_json::from_value(
                json!({"action": "accept", "content": content}),
            )?)
        })
        .on_url(|visit| async move {
            assert!(visit.url.starts_with("https://pay.example/orders/"));
            Ok(ElicitResult::accept_visit())
        })
        .on_sample(|_| async { Ok(CreateMessageResult::new("parrot", "In short.")) });
    Client::new("test", "1.0.0").answering(answers)
}

#[tokio::test]
async fn booking_asks_clients_of_every_revision_that_can_be_asked() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let server = connect_as(&client().only(revision), "booking").await;
        let text = server.call("book", json!({"flight": "XY1"})).await;
        let text = text.expect("it is booked").text();
        let start = "Ada sits in row 7 (Window) on XY1, for ";
        assert!(text.starts_with(start), "{revision}: {text}");
        assert!(
            text.ends_with("goes to ada@engine.example."),
            "{revision}: {text}"
        );
    }
    let server = connect_as(&client().only(Revision::V2025_03_26), "booking").await;
    let output = server.call("book", json!({"flight": "XY1"})).await;
    let output = output.expect("it answers");
    // The form for the seat has a fallback, the one for the passenger has not.
    assert_eq!(output.is_error, Some(true));
    assert!(output.text().contains("2025-06-18"), "{}", output.text());
}

#[tokio::test]
async fn payment_sends_people_to_a_page_or_names_it() {
    for &revision in Revision::ALL {
        let server = connect_as(&client().only(revision), "payment").await;
        let output = server.call("buy", json!({"title": "Emma"})).await;
        let expected = if revision < Revision::V2025_11_25 {
            "Order 1 can be paid at https://pay.example/orders/1"
        } else {
            "Order 1 is paid."
        };
        assert_eq!(output.expect("it is sold").text(), expected, "{revision}");
    }
}

#[tokio::test]
async fn summariser_borrows_the_model_of_the_client() {
    let text = json!({"text": "It rained. It went on raining."});
    for &revision in Revision::ALL {
        let server = connect_as(&client().only(revision), "summariser").await;
        let output = server
            .call("summarise", &text)
            .await
            .expect("it is summed up");
        assert_eq!(output.text(), "In short. [parrot]", "{revision}");
        let alone = Client::new("test", "1.0.0").only(revision);
        let server = connect_as(&alone, "summariser").await;
        let output = server
            .call("summarise", &text)
            .await
            .expect("it is summed up");
        assert_eq!(output.text(), "It rained. [none]", "{revision}");
    }
}

const SECRET: &str = "a secret of the test, 32 bytes..";
const OTHER: &str = "another secret of the test......";

/// A process that runs the example, and a client of it.
struct Process {
    client: Connection,
    /// The HTTP server, which ends when this is dropped.
    _serving: Option<Child>,
}

impl Process {
    async fn on_stdio(secret: &str) -> Self {
        let command = transport::Command::new(example("booking")).env("BOOKING_SECRET", secret);
        let client = client().only(Revision::V2026_07_28).connect(command).await;
        Self {
            client: client.expect("it answers"),
            _serving: None,
        }
    }

    async fn on_http(secret: &str) -> Self {
        let mut serving = Command::new(example("booking"))
            .arg("127.0.0.1:0")
            .env("BOOKING_SECRET", secret)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the example starts");
        let mut lines = BufReader::new(serving.stdout.take().expect("it is piped")).lines();
        let line = lines.next_line().await.expect("it prints").expect("a line");
        let url = line.strip_prefix("listening on ").expect("the address");
        let client = client().only(Revision::V2026_07_28).connect(url).await;
        Self {
            client: client.expect("it answers"),
            _serving: Some(serving),
        }
    }

    /// Sends one request, without a handler for the questions that come back.
    async fn send(&self, more: Value) -> Result<Value, i64> {
        let mut params = json!({"name": "book", "arguments": {"flight": "XY1"}});
        let members = params.as_object_mut().expect("an object");
        members.extend(more.as_object().cloned().expect("an object"));
        let raw = serde_json::value::to_raw_value(&params).expect("it is JSON");
        match self.client.request_raw("tools/call", Some(raw)).await {
            Ok(raw) => Ok(serde_json::from_str(raw.get()).expect("it is JSON")),
            Err(error) => Err(error.rejection().unwrap_or_else(|| panic!("{error}")).code),
        }
    }
}

fn seat(paused: &Value) -> Value {
    json!({
        "requestState": paused["requestState"],
        "inputResponses": {"seat": {"action": "accept", "content": {"row": 3}}},
    })
}

fn passenger(paused: &Value) -> Value {
    json!({
        "requestState": paused["requestState"],
        "inputResponses": {"passenger": {"action": "accept", "content": {"name": "Ada"}}},
    })
}

/// Makes each step of one call in another process, after the one before has ended.
async fn moves_from_process_to_process(start: impl AsyncFn(&'static str) -> Process) {
    let first = start(SECRET).await;
    let asked = first.send(json!({})).await.expect("it asks");
    let question = asked["inputRequests"]["seat"]["params"]["message"].as_str();
    let price = question.and_then(|text| text.strip_prefix("XY1 costs "));
    let price = price
        .and_then(|text| text.split(' ').next())
        .expect("a price");
    drop(first);

    let stranger = start(OTHER).await;
    assert_eq!(stranger.send(seat(&asked)).await, Err(-32602), "other keys");

    let second = start(SECRET).await;
    let asked_more = second.send(seat(&asked)).await.expect("it asks on");
    assert!(
        asked_more["inputRequests"]["passenger"].is_object(),
        "{asked_more}"
    );
    assert!(
        asked_more["inputRequests"]["seat"].is_null(),
        "{asked_more}"
    );
    drop(second);

    let third = start(SECRET).await;
    let done = third
        .send(passenger(&asked_more))
        .await
        .expect("it is done");
    let text = done["content"][0]["text"].as_str().expect("text");
    // The first process quoted the price, and the second one got the answer.
    let expected = format!("Ada sits in row 3 (Aisle) on XY1, for {price} €, receipt R-{price}-");
    assert!(text.starts_with(&expected), "{text}");
    // Sending the last answer once more buys nothing more.
    let again = third.send(passenger(&asked_more)).await;
    assert_eq!(again, Err(-32602), "it counts once");
    let other = third.send(json!({})).await.expect("it asks");
    let other = third.send(seat(&other)).await.expect("it asks on");
    let other = third.send(passenger(&other)).await.expect("it is done");
    let text = other["content"][0]["text"].as_str().expect("text");
    assert!(text.ends_with("-2."), "the second receipt: {text}");
}

// rule: M13
#[tokio::test]
async fn a_call_that_paused_in_one_process_goes_on_in_another_over_stdio() {
    moves_from_process_to_process(Process::on_stdio).await;
}

// rule: M13
#[tokio::test]
async fn a_call_that_paused_in_one_process_goes_on_in_another_over_http() {
    moves_from_process_to_process(Process::on_http).await;
}
