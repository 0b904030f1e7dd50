//! Servers that answer a request twice, so that a connection is one answer behind.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use turnbuckle_client::{CallError, protocol::Revision};

use crate::http_site::{Answer, Heard, Site, initialized, modern, plain, text};

/// How a server sends the second copy of an error.
#[derive(Clone, Copy, Debug)]
enum Form {
    Body,
    Status,
    Stream,
}

async fn send(answer: &mut Answer, message: &Value, form: Form) {
    match form {
        Form::Body => answer.json(200, message).await,
        Form::Status => answer.json(400, message).await,
        Form::Stream => {
            answer.events().await;
            answer.event(message).await;
        }
    }
}

/// The answers that one connection still owes.
#[derive(Default)]
struct Behind(Mutex<Option<(usize, Value)>>);

impl Behind {
    /// Returns what is sent for a request: its own answer, unless its connection is one answer behind.
    /// An error makes its connection so.
    fn answer_to(&self, heard: &Heard, own: Value) -> Value {
        let mut behind = self.0.lock().unwrap();
        match &mut *behind {
            Some((connection, late)) if *connection == heard.connection => {
                std::mem::replace(late, own)
            }
            None if own.get("error").is_some() => {
                *behind = Some((heard.connection, own.clone()));
                own
            }
            _ => own,
        }
    }
}

/// A modern server that answers the tool `fails` with an error, twice. In the second copy, the id may be
/// a string.
async fn failing_twice(form: Form, is_text: bool) -> Site {
    let behind = Arc::new(Behind::default());
    modern(move |heard, answer| {
        let behind = behind.clone();
        Box::pin(async move {
            let is_first = heard.body["params"]["name"] == "fails";
            let own = if is_first {
                heard.error(-32000, "the first call failed")
            } else {
                heard.result(text("hello"))
            };
            let mut sent = behind.answer_to(&heard, own);
            if is_first || sent.get("error").is_none() {
                return answer.json(200, &sent).await;
            }
            if is_text {
                sent["id"] = json!(sent["id"].to_string());
            }
            send(answer, &sent, form).await;
        })
    })
    .await
}

#[tokio::test]
async fn an_error_that_comes_twice_is_not_the_answer_to_the_next_call() {
    for (form, is_text) in [
        (Form::Body, false),
        (Form::Body, true),
        (Form::Status, false),
        (Form::Stream, false),
    ] {
        let site = failing_twice(form, is_text).await;
        let server = plain().connect(site.url()).await.unwrap();
        let error = server.call("fails", ()).await.unwrap_err();
        let code = error.rejection().map(|it| it.code);
        assert_eq!(code, Some(-32000), "{form:?}: {error:?}");
        // It ran, and its answer is the next one on the connection, which is not used any more.
        let error = server.call("runs", ()).await.err();
        assert!(
            matches!(
                error,
                Some(CallError::Malformed { .. } | CallError::Lost { .. })
            ),
            "{form:?}: {error:?}"
        );
        assert_eq!(server.call("runs", ()).await.unwrap().text(), "hello");
        assert_eq!(site.count("POST tools/call"), 3, "{form:?}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_probe_twice_gets_its_handshake() {
    let behind = Arc::new(Behind::default());
    let site = Site::start(move |heard, answer| {
        let behind = behind.clone();
        Box::pin(async move {
            let own = match heard.line().as_str() {
                "POST server/discover" => heard.error(-32601, "no such method"),
                "POST initialize" => heard.result(initialized(Revision::V2025_06_18)),
                "POST tools/call" => heard.result(text("hello")),
                "POST notifications/initialized" => return answer.status(202).await,
                _ => return answer.status(405).await,
            };
            let sent = behind.answer_to(&heard, own);
            answer.json(200, &sent).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    assert_eq!(server.call("t", ()).await.unwrap().text(), "hello");
}

/// The error may be one too many, which its id does not show.
#[tokio::test]
async fn a_connection_with_an_error_for_no_request_on_a_stream_is_not_used_again() {
    let site = modern(move |heard, answer| {
        Box::pin(async move {
            if heard.body["params"]["name"] == "runs" {
                return answer.json(200, &heard.result(text("hello"))).await;
            }
            let mut error = heard.error(-32000, "for somebody");
            error["id"] = json!("server-error");
            let event = format!("data: {error}\n\n");
            let length = event.len();
            // The whole answer at once, so that the client has it when it reads the event.
            let bytes = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n{event}"
            );
            answer.raw(bytes.as_bytes()).await;
        })
    })
    .await;
    let server = plain().connect(site.url()).await.unwrap();
    let error = server.call("fails", ()).await.unwrap_err();
    assert_eq!(error.rejection().map(|it| it.code), Some(-32000));
    assert_eq!(server.call("runs", ()).await.unwrap().text(), "hello");
    let heard = site.heard();
    let [failed, ran] = &heard[heard.len() - 2..] else {
        panic!("two calls: {heard:?}");
    };
    assert_ne!(failed.connection, ran.connection);
}
