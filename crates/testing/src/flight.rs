//! Calls under way in which the server may ask, and what to do with each answer of the server.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

/// The methods during which a server may ask.
const ASKING: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// What to do with a message of the server.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// Pass this message to the client.
    Deliver(Value),
    /// Send this message to the server, and nothing to the client yet.
    Send(Value),
    /// Pass this message to the client, and fail the test for this reason.
    Differs(Value, String),
}

/// The calls under way, by the id that the server knows.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    open: HashMap<String, Flight>,
    /// The questions that the client was asked, by the `requestState` that came with them.
    asked: HashMap<String, Value>,
    sent: u64,
}

/// One call of the client.
#[derive(Debug)]
struct Flight {
    /// The request as the client sent it, with its id.
    request: Value,
    /// Answers of the client that have not been sent to the server yet.
    later: Map<String, Value>,
    /// The questions of the server before the call was sent again without answers.
    expected: Option<Value>,
}

impl Flights {
    /// Notes a message of the client. Returns another message if that is to be sent instead.
    pub(crate) fn take_off(&mut self, message: Value) -> Option<Value> {
        let method = message["method"].as_str().unwrap_or_default();
        if method == "notifications/cancelled" {
            return self.cancel(message);
        }
        let is_modern = message["params"]["_meta"].get(VERSION).is_some();
        if !is_modern || !ASKING.contains(&method) || message.get("id").is_none() {
            return None;
        }
        let mut later = self.asked_answers(&message["params"]);
        let first = (later.len() > 1).then(|| with_first(&message, &mut later));
        if first.is_none() {
            later.clear();
        }
        let flight = Flight {
            request: message.clone(),
            later,
            expected: None,
        };
        self.open.insert(key(&message["id"]), flight);
        first
    }

    /// The answers in `params` to the questions that the client was asked. Other answers are left for the server to
    /// check.
    fn asked_answers(&self, params: &Value) -> Map<String, Value> {
        let state = params["requestState"].as_str().unwrap_or_default();
        let Some(asked) = self.asked.get(state) else {
            return Map::new();
        };
        let answers = params["inputResponses"].as_object().cloned();
        let mut answers = answers.unwrap_or_default();
        answers.retain(|key, _| asked.get(key).is_some());
        answers
    }

    /// A cancellation with the id under which the server knows the call, if the call was sent again.
    fn cancel(&self, mut message: Value) -> Option<Value> {
        let id = &message["params"]["requestId"];
        let known = self
            .open
            .iter()
            .find(|(_, flight)| flight.request["id"] == *id)?;
        let known = serde_json::from_str(known.0).ok()?;
        message["params"]["requestId"] = known;
        Some(message)
    }

    /// Decides what to do with a message of the server; `None` if it does not answer one of our requests.
    pub(crate) fn land(&mut self, message: Value) -> Option<Next> {
        message.get("method").is_none().then_some(())?;
        let flight = self.open.remove(&key(message.get("id")?))?;
        let result = &message["result"];
        let has_asked =
            result["resultType"] == "input_required" && result.get("inputRequests").is_some();
        Some(match (&flight.expected, has_asked) {
            (None, false) => Next::Deliver(flight.answer(message)),
            (None, true) => {
                let mut again = flight.retry(&message);
                hush(&mut again);
                let expected = Some(result["inputRequests"].clone());
                self.send(Flight { expected, ..flight }, again)
            }
            (Some(expected), true) if *expected == result["inputRequests"] => {
                self.go_on(flight, message)
            }
            (Some(expected), _) => {
                let difference = flight.difference(expected, &message);
                let id = &flight.request["id"];
                let error = json!({"code": -32603, "message": difference});
                let failed = json!({"jsonrpc": "2.0", "id": id, "error": error});
                Next::Differs(failed, difference)
            }
        })
    }

    /// The handler asked the same questions: sends the next answer to the server, or the questions to the client.
    fn go_on(&mut self, mut flight: Flight, message: Value) -> Next {
        flight.expected = None;
        // Of the remaining answers, only those that are still asked for.
        let asked = &message["result"]["inputRequests"];
        flight.later.retain(|key, _| asked.get(key).is_some());
        if flight.later.is_empty() {
            if let Some(state) = message["result"]["requestState"].as_str() {
                self.asked.insert(state.to_owned(), asked.clone());
            }
            return Next::Deliver(flight.answer(message));
        }
        let mut next = flight.retry(&message);
        next = with_first(&next, &mut flight.later);
        self.send(flight, next)
    }

    /// Sends a request under an id that no client uses.
    fn send(&mut self, flight: Flight, mut request: Value) -> Next {
        self.sent += 1;
        request["id"] = format!("again-{}", self.sent).into();
        self.open.insert(key(&request["id"]), flight);
        Next::Send(request)
    }
}

impl Flight {
    /// The server's message as the answer to the client's request.
    fn answer(&self, mut message: Value) -> Value {
        message["id"] = self.request["id"].clone();
        message
    }

    /// The request with the state from the server, and without answers.
    fn retry(&self, message: &Value) -> Value {
        let mut request = self.request.clone();
        let state = message["result"].get("requestState").cloned();
        if let Some(params) = request["params"].as_object_mut() {
            params.shift_remove("inputResponses");
            params.shift_remove("requestState");
            params.extend(state.map(|state| ("requestState".to_owned(), state)));
        }
        request
    }

    fn difference(&self, expected: &Value, message: &Value) -> String {
        let params = &self.request["params"];
        let target = params["name"].as_str().or(params["uri"].as_str());
        let instead = match message.get("error") {
            Some(error) => format!("failed with {error}"),
            None if message["result"]["inputRequests"].is_object() => {
                format!("asked\n  {}", message["result"]["inputRequests"])
            }
            None => "came to an end".to_owned(),
        };
        format!(
            "`{}` asked\n  {expected}\nand when it was run again with nothing new it {instead}\n\
             A handler may run again at any ask, on any machine: what it asks must follow from its \
             arguments, the answers before, and memos.",
            target.unwrap_or_default()
        )
    }
}

/// The message with the first of these answers only. That answer is removed from `answers`.
fn with_first(message: &Value, answers: &mut Map<String, Value>) -> Value {
    let mut message = message.clone();
    let first = answers.keys().next().cloned();
    let first = first.and_then(|key| answers.shift_remove_entry(&key));
    if let Some(params) = message["params"].as_object_mut() {
        let sent = params.entry("inputResponses").or_insert_with(|| json!({}));
        if let Some(sent) = sent.as_object_mut() {
            sent.retain(|key, _| !answers.contains_key(key));
            sent.extend(first);
        }
    }
    message
}

/// Removes the progress token, so that progress of the same work is not reported twice.
fn hush(request: &mut Value) {
    if let Some(meta) = request["params"]["_meta"].as_object_mut() {
        meta.shift_remove("progressToken");
        meta.shift_remove(LOG_LEVEL);
    }
}

fn key(id: &Value) -> String {
    id.to_string()
}
