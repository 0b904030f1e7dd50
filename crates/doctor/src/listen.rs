//! `subscriptions/listen`: acknowledged, then left.

use std::time::Instant;

use serde_json::{Map, Value, json};
use tokio::time::timeout_at;
use turnbuckle::{client::Direction, protocol::meta::key};
use turnbuckle_base::error_chain;

use super::{
    cancel::{alive, is_alive},
    finding::Finding,
    table::cancel,
    talk::{Answer, Exchange, HttpRoad, MAX_MESSAGE, Road, Talk, conduct, head},
};

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// Opens a subscription for all that the server offers, and leaves it.
pub(crate) async fn look(talk: &mut Talk<'_>, capabilities: &Value) {
    let wanted = filter(capabilities);
    if wanted.is_empty() {
        return;
    }
    talk.report.step("listening for changes");
    let id = talk.next_id();
    let params = json!({ "notifications": wanted });
    let request = talk.speech.request(&id, "subscriptions/listen", params);
    let first = match &talk.road {
        Road::Pipe(_) => by_pipe(talk, &request).await,
        Road::Http(http) => by_http(talk, http, &request).await,
        Road::Events(_) => return,
    };
    let is_tagged = |message: &Value| message["params"]["_meta"][key::SUBSCRIPTION_ID] == id;
    match &first.answer {
        Answer::Message(message) if message["method"] == ACKNOWLEDGED && is_tagged(message) => {
            talk.report
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
            let finding = Finding::of(&cancel::ACKNOWLEDGED, said);
            talk.report.add(finding.seen_all(first.evidence()));
            return;
        }
    }
    left(talk, &id).await;
}

/// What can be listened to.
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

async fn by_pipe(talk: &mut Talk<'_>, request: &Value) -> Exchange {
    let patience = talk.patience.probe;
    let Road::Pipe(pipe) = &mut talk.road else {
        return nothing(request);
    };
    let began = Instant::now();
    let mut exchange = pipe.write(request, patience).await;
    if exchange.answer == Answer::Nothing {
        exchange.answer = pipe.first(began + patience).await;
        exchange.took = began.elapsed();
    }
    exchange
}

async fn by_http(talk: &Talk<'_>, http: &HttpRoad, request: &Value) -> Exchange {
    let began = Instant::now();
    let until = began + talk.patience.probe;
    let mut exchange = nothing(request);
    let post = http.post(&talk.speech, request);
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
    conduct::stream(talk.report, &exchange);
    if !reply.is_events() {
        let body = timeout_at(until.into(), reply.bytes(MAX_MESSAGE)).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        exchange.answer = serde_json::from_slice(&body).map_or(Answer::Nothing, Answer::Message);
        return exchange;
    }
    // Dropped at the end: the stream is left.
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

/// Leaves the subscription: by a notification over pipes; over HTTP its stream is closed already.
async fn left(talk: &mut Talk<'_>, id: &Value) {
    if talk.is_pipe() {
        let params = json!({ "requestId": id });
        talk.notify("notifications/cancelled", params).await;
    }
    let after = alive(talk).await;
    let silence = talk.patience.silence;
    let mut heard = after.heard.clone();
    if let Road::Pipe(pipe) = &mut talk.road {
        heard.extend(pipe.listen(silence).await);
    }
    // What was on its way when the cancellation went out may be here; an answer may not.
    let more = heard
        .iter()
        .find(|message| message["id"] == *id && message.get("method").is_none());
    let finding = if let Some(more) = more {
        let said = "a subscription that was cancelled is answered";
        Finding::of(&cancel::LEFT, said).seen(format!("← {more}"))
    } else if is_alive(&after) {
        talk.report.ok(&cancel::LEFT, "leaving is noticed");
        return;
    } else {
        let said = format!(
            "after a subscription was left, the next request gets {}",
            after.came()
        );
        Finding::of(&cancel::LEFT, said).seen_all(after.evidence())
    };
    talk.report.add(finding);
}
