//! Hand-written requests of modern clients, which can be repeated, altered and sent by other callers.

use std::sync::Arc;

use serde_json::{Value, json, value::RawValue};
use turnbuckle_client::{Client, Connection, Era, RelayAsk, RelayEvent, RelayRequest, RelaySink};
use turnbuckle_gateway::LiveGateway;
use turnbuckle_protocol::{ClientCapabilities, Revision, envelope::Raw};

use crate::site;

struct Deaf;

impl RelaySink for Deaf {
    fn ask(&self, _: RelayAsk) {}

    fn notification(&self, _: &str, _: Option<&RawValue>) {}
}

pub(crate) async fn as_caller(gateway: &LiveGateway, caller: &str) -> Connection {
    let client = Client::new("raw", "1.0.0")
        .only_era(Era::Modern)
        .relaying(ClientCapabilities::new(), Arc::new(Deaf));
    site::join_as(&client, gateway, caller).await
}

/// The same for a client of 2025-11-25 that can fill in forms.
pub(crate) async fn as_legacy_caller(gateway: &LiveGateway, caller: &str) -> Connection {
    let forms = ClientCapabilities::new().with_form_elicitation();
    let client = Client::new("raw", "1.0.0")
        .only(Revision::LATEST_LEGACY)
        .relaying(forms, Arc::new(Deaf));
    site::join_as(&client, gateway, caller).await
}

/// Connects as an unidentified caller: with a modern client, or with one of 2025-11-25 that can
/// fill in forms.
pub(crate) async fn as_nobody(gateway: &LiveGateway, era: Era) -> Connection {
    let forms = ClientCapabilities::new().with_form_elicitation();
    let client = Client::new("raw", "1.0.0")
        .only_era(era)
        .relaying(forms, Arc::new(Deaf));
    site::join(&client, gateway, site::Door::Lines).await
}

/// The params of a call by a client that can fill in forms.
pub(crate) fn call(tool: &str, more: &Value) -> Value {
    let mut params = json!({
        "name": tool,
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": Revision::LATEST,
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
        },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        params[name] = value.clone();
    }
    params
}

/// The result of a call, or the error.
pub(crate) async fn send(connection: &Connection, params: &Value) -> Result<Value, Value> {
    request(connection, "tools/call", params).await
}

/// The result of a request, or the error.
pub(crate) async fn request(
    connection: &Connection,
    method: &str,
    params: &Value,
) -> Result<Value, Value> {
    let yes = json!({ "action": "accept", "content": {} });
    request_with(connection, method, params, &yes).await
}

/// The result of a request, or the error. Questions in a session are answered with this answer.
pub(crate) async fn request_with(
    connection: &Connection,
    method: &str,
    params: &Value,
    answer: &Value,
) -> Result<Value, Value> {
    let raw = serde_json::value::to_raw_value(params).unwrap();
    exchange(connection, method, &raw, answer).await
}

/// The result of a request with params that no [`Value`] can hold, or the error.
pub(crate) async fn request_text(
    connection: &Connection,
    method: &str,
    params: &RawValue,
) -> Result<Value, Value> {
    exchange(connection, method, params, &Value::Null).await
}

async fn exchange(
    connection: &Connection,
    method: &str,
    params: &RawValue,
    answer: &Value,
) -> Result<Value, Value> {
    let request = RelayRequest::new(method, Some(Raw::from(params).into()));
    let mut call = connection.relay(request).expect("sent");
    loop {
        match call.next().await {
            RelayEvent::Result(raw) => return Ok(serde_json::from_str(raw.get()).unwrap()),
            RelayEvent::Error(raw) => return Err(serde_json::from_str(raw.get()).unwrap()),
            RelayEvent::Lost(error) => panic!("{error}"),
            RelayEvent::Ask(ask) => {
                ask.answer(&serde_json::value::to_raw_value(answer).unwrap());
            }
            _ => {}
        }
    }
}

/// The retry that answers these questions of a result.
pub(crate) fn retry(tool: &str, asked: &Value, keys: &[&str]) -> Value {
    let answers: serde_json::Map<String, Value> = keys
        .iter()
        .map(|key| {
            (
                (*key).to_owned(),
                json!({ "action": "accept", "content": {} }),
            )
        })
        .collect();
    call(
        tool,
        &json!({ "inputResponses": answers, "requestState": asked["requestState"] }),
    )
}

pub(crate) fn keys(asked: &Value) -> Vec<&str> {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().expect("questions");
    requests.keys().map(String::as_str).collect()
}

pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result["resultType"], "complete", "{result}");
    result["content"][0]["text"].as_str().expect("a text")
}
