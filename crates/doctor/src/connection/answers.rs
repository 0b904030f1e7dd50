//! Waits for an answer among all messages of a server.

use std::time::Instant;

use serde_json::{Value, json};
use tokio::time::timeout_at;

use super::Answer;

/// How many messages that do not belong to a request are kept from one exchange.
pub(super) const MAX_HEARD: usize = 256;

/// A stream of messages, with a way to answer the server's requests.
pub(super) trait Messages {
    /// The next message, or why the stream ended. No message is lost if the future is dropped.
    async fn next(&mut self) -> Result<Value, String>;

    /// Sends an answer to the server, which must accept it before `until`.
    async fn reply(&mut self, answer: &Value, until: Instant);
}

/// Waits for the answer with this id, or only for the time if there is no id. Other messages are added to `heard`, and
/// requests of the server are refused.
pub(super) async fn answer(
    messages: &mut impl Messages,
    id: Option<&Value>,
    until: Instant,
    heard: &mut Vec<Value>,
) -> Answer {
    loop {
        let message = match timeout_at(until.into(), messages.next()).await {
            Ok(Ok(message)) => message,
            Ok(Err(gone)) => return Answer::Gone(gone),
            Err(_) => return Answer::Silence,
        };
        match kind(&message, id) {
            MessageKind::Answer => return Answer::Message(message),
            MessageKind::Request(own) => {
                let refusal = refusal(&message, &own);
                let _ = timeout_at(until.into(), messages.reply(&refusal, until)).await;
            }
            MessageKind::Other => {}
        }
        if heard.len() < MAX_HEARD {
            heard.push(message);
        }
    }
}

/// All messages that arrive before `until`.
pub(super) async fn everything(messages: &mut impl Messages, until: Instant) -> Vec<Value> {
    let mut heard = Vec::new();
    let _ = answer(messages, None, until, &mut heard).await;
    heard
}

/// The kind of a message for a caller that waits for the answer with a certain id.
pub(super) enum MessageKind {
    Answer,
    Request(Value),
    Other,
}

pub(super) fn kind(message: &Value, id: Option<&Value>) -> MessageKind {
    let has_method = message.get("method").is_some();
    let own = message.get("id").filter(|own| !own.is_null());
    match (has_method, own) {
        (true, Some(own)) => MessageKind::Request(own.clone()),
        // If the id was changed to a string, or is missing, this is still the answer, but an invalid one.
        (false, Some(own)) if id.is_some_and(|id| is_like(own, id)) => MessageKind::Answer,
        (false, None) if message.get("error").is_some() && id.is_some() => MessageKind::Answer,
        (true, None) | (false, _) => MessageKind::Other,
    }
}

fn is_like(own: &Value, id: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string().trim_end_matches(".0").to_owned(),
    };
    text(own) == text(id)
}

/// The answer of a client without capabilities to a server's request.
fn refusal(message: &Value, id: &Value) -> Value {
    if message["method"] == "ping" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    }
    let error =
        json!({ "code": -32601, "message": "turnbuckle doctor does not offer this method" });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}
