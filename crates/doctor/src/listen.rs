//! `subscriptions/listen`: opens a subscription, checks the acknowledgement, and ends it.

use std::time::Instant;

use serde_json::{Map, Value, json};
use tokio::time::timeout_at;
use turnbuckle::{client::Direction, protocol::meta::key};
use turnbuckle_base::error_chain;

use super::{
    cancel::{alive, is_alive},
    connection::{
        Answer, Connection, Exchange, HttpTransport, MAX_MESSAGE, Transport, conduct, head,
    },
    finding::Finding,
    table::cancel,
};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Opens a subscription for everything that the server offers, and ends it.
pub(crate) async fn look(connection: &mut Connection<'_>, capabilities: &Value) {
    let wanted = filter(capabilities);
    if wanted.is_empty() {
        return;
    }
    connection.report.step("listening for changes");
    let id = connection.next_id();
    let params = json!({ "notifications": wanted });
    let request = connection
        .spoken
        .request(&id, "subscriptions/listen", params);
    let first = match &connection.transport {
        Transport::Stdio(_) => by_pipe(connection, &request).await,
        Transport::Http(http) => by_http(connection, http, &request).await,
        Transport::Events(_) => return,
    };
    let is_tagged = |message: &Value| message["params"]["_meta"][key::SUBSCRIPTION_ID] == id;
    match &first.answer {
        Answer::Message(message) if message["method"] == ACKNOWLEDGED && is_tagged(message) => {
            connection
                .report
                .ok(&cancel::ACKNOWLEDGED, "listening is acknowledged");
        }
        answer => {
            let said = match answer {
                Answer::Message(message) if message["method"] == ACKNOWLEDGED => {
                    "the acknowledgement of a subscription does not carry its id".to_owned()
                }
                Answer::Message(message) if message.get("method").is_some() => {
                    format!("a subscription begins with {}", message["method"])
                }
                _ => format!("`subscriptions/listen` is answered with {}", first.came()),
            };
            connection
                .report
                .add(first.finding(&cancel::ACKNOWLEDGED, said));
            return;
        }
    }
    left(connection, &id).await;
}

/// The filter for everything that the server can notify about.
fn filter(capabilities: &Value) -> Map<String, Value> {
    let offered = [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ];
    let wanted = offered
        .into_iter()
        .filter(|(what, _)| capabilities[what]["listChanged"] == true);
    wanted
        .map(|(_, name)| (name.to_owned(), Value::Bool(true)))
        .collect()
}

async fn by_pipe(connection: &mut Connection<'_>, request: &Value) -> Exchange {
    let limit = connection.limits.probe;
    let Transport::Stdio(stdio) = &mut connection.transport else {
        return nothing(request);
    };
    let began = Instant::now();
    let mut exchange = stdio.write(request, limit).await;
    if exchange.answer == Answer::Nothing {
        exchange.answer = stdio.first(began + limit).await;
        exchange.took = began.elapsed();
    }
    exchange
}

async fn by_http(connection: &Connection<'_>, http: &HttpTransport, request: &Value) -> Exchange {
    let began = Instant::now();
    let until = began + connection.limits.probe;
    let mut exchange = nothing(request);
    let post = http.post(&connection.spoken, request);
    http.wire.pass(Direction::Out, post.body.as_bytes());
    let reply = match timeout_at(until.into(), http.reply(post)).await {
        Err(_) => {
            exchange.answer = Answer::Silence;
            return exchange;
        }
        Ok(Err(error)) => {
            exchange.answer = Answer::Gone(error_chain::in_one_line(&error));
            return exchange;
        }
        Ok(Ok(reply)) => reply,
    };
    exchange.head = Some(head(&reply));
    conduct::stream(connection.report, &exchange);
    if !reply.is_events() {
        let body = timeout_at(until.into(), reply.bytes(MAX_MESSAGE)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        exchange.answer = serde_json::from_slice(&body).map_or(Answer::Nothing, Answer::Message);
        return exchange;
    }
    // The stream is closed when this is dropped.
    let mut events = reply.events(MAX_MESSAGE);
    exchange.answer = loop {
        match timeout_at(until.into(), events.next()).await {
            Err(_) => break Answer::Silence,
            Ok(Err(error)) => break Answer::Gone(error_chain::in_one_line(&error)),
            Ok(Ok(None)) => break Answer::Gone("the stream ended".to_owned()),
            Ok(Ok(Some(event))) => {
                http.wire.pass(Direction::In, event.data.as_bytes());
                if let Ok(message) = serde_json::from_str(&event.data) {
                    break Answer::Message(message);
                }
            }
        }
    };
    exchange.took = began.elapsed();
    exchange
}

fn nothing(request: &Value) -> Exchange {
    Exchange {
        sent: request.clone(),
        answer: Answer::Nothing,
        heard: Vec::new(),
        head: None,
        took: std::time::Duration::ZERO,
    }
}

/// Ends the subscription: with a notification over stdio; over HTTP its stream is closed already.
async fn left(connection: &mut Connection<'_>, id: &Value) {
    if connection.is_stdio() {
        let params = json!({ "requestId": id });
        connection.notify("notifications/cancelled", params).await;
    }
    let after = alive(connection).await;
    let silence = connection.limits.silence;
    let mut heard = after.heard.clone();
    if let Transport::Stdio(stdio) = &mut connection.transport {
        heard.extend(stdio.listen(silence).await);
    }
    // Messages that were on their way during the cancellation may still arrive, but an answer may not.
    let more = heard
        .iter()
        .find(|message| message["id"] == *id && message.get("method").is_none());
    let finding = if let Some(more) = more {
        let said = "a subscription that was cancelled is answered";
        Finding::of(&cancel::LEFT, said).seen(format!("← {more}"))
    } else if is_alive(&after) {
        connection.report.ok(&cancel::LEFT, "leaving is noticed");
        return;
    } else {
        let said = format!(
            "after a subscription was left, the next request gets {}",
            after.came()
        );
        after.finding(&cancel::LEFT, said)
    };
    connection.report.add(finding);
}
