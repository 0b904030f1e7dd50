//! Streamable HTTP, request by request, with full control over the headers.

use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::Value;
use tokio::time::timeout_at;
use turnbuckle::{
    client::Direction,
    protocol::http::{encode, header, name_of},
    transport::http::client::{
        Address, Agent, Events, HeaderMap, HeaderName, HeaderValue, HttpError, Method, Reply,
    },
};
use turnbuckle_base::error_chain;
use turnbuckle_command_line::wire::Wire;

use super::{
    Answer, Exchange, Head, MAX_MESSAGE, Spoken,
    answers::{MAX_HEARD, MessageKind, kind},
};

/// A server at a URL.
#[derive(Clone)]
pub(crate) struct HttpTransport {
    pub(crate) agent: Agent,
    pub(crate) address: Address,
    pub(crate) wire: Wire,
    /// The id of the session, once it is open.
    pub(crate) session: Option<String>,
}

/// A request exactly as it is sent.
pub(crate) struct Post {
    pub(crate) method: Method,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: String,
}

impl HttpTransport {
    pub(crate) fn new(agent: Agent, address: Address, wire: Wire) -> Self {
        Self {
            agent,
            address,
            wire,
            session: None,
        }
    }

    /// Sends a message as a client does.
    pub(crate) async fn exchange(
        &self,
        spoken: &Spoken,
        message: Value,
        limit: Duration,
    ) -> Exchange {
        let post = self.post(spoken, &message);
        self.send(post, message, limit).await
    }

    /// The request that carries a message, with the headers that its revision requires.
    pub(crate) fn post(&self, spoken: &Spoken, message: &Value) -> Post {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ];
        let method = message["method"].as_str().unwrap_or_default();
        let version = spoken.revision().as_str().to_owned();
        match spoken {
            Spoken::Modern(_) => {
                headers.push((header::PROTOCOL_VERSION, version));
                headers.push((header::METHOD, method.to_owned()));
                let name = name_of(method).and_then(|member| message["params"][member].as_str());
                if let Some(name) = name {
                    headers.push((header::NAME, encode(name).into_owned()));
                }
            }
            Spoken::Legacy(revision) => {
                // The header is for requests after `initialize`, since 2025-06-18.
                if method != "initialize" && revision.rules().version_header {
                    headers.push((header::PROTOCOL_VERSION, version));
                }
                if let Some(session) = &self.session {
                    headers.push((header::SESSION_ID, session.clone()));
                }
            }
        }
        Post {
            method: Method::POST,
            headers,
            body: message.to_string(),
        }
    }

    /// Sends a request unchanged, and reads until its answer arrives.
    pub(crate) async fn send(&self, post: Post, sent: Value, limit: Duration) -> Exchange {
        let began = Instant::now();
        let until = began + limit;
        let mut heard = Vec::new();
        let id = sent.get("id").cloned();
        if !post.body.is_empty() {
            self.wire.pass(Direction::Out, post.body.as_bytes());
        }
        let (head, answer) = match timeout_at(until.into(), self.reply(post)).await {
            Err(_) => (None, Answer::Silence),
            Ok(Err(error)) => (None, Answer::Gone(error_chain::in_one_line(&error))),
            Ok(Ok(reply)) => {
                let head = head(&reply);
                let reading = read(reply, id.as_ref(), &mut heard);
                let answer = match timeout_at(until.into(), reading).await {
                    Ok(answer) => answer,
                    Err(_) => Answer::Silence,
                };
                (Some(head), answer)
            }
        };
        let exchange = Exchange {
            sent,
            answer,
            heard,
            head,
            took: began.elapsed(),
        };
        self.show(&exchange);
        exchange
    }

    /// Shows and records the messages of an exchange.
    fn show(&self, exchange: &Exchange) {
        for heard in &exchange.heard {
            self.wire.pass(Direction::In, heard.to_string().as_bytes());
        }
        match &exchange.answer {
            Answer::Message(message) => {
                self.wire
                    .pass(Direction::In, message.to_string().as_bytes());
            }
            Answer::Other(body) => self.wire.pass(Direction::In, body.as_bytes()),
            Answer::Nothing | Answer::Silence | Answer::Gone(_) => {}
        }
    }

    /// Sends a request, and returns its answer before the body is read.
    pub(crate) async fn reply(&self, post: Post) -> Result<Reply, HttpError> {
        let mut headers = HeaderMap::new();
        for (name, value) in post.headers {
            // The server's session id may be a value that is not allowed in a header.
            let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(&value),
            ) else {
                continue;
            };
            headers.insert(name, value);
        }
        let body = Bytes::from(post.body);
        self.agent
            .send(post.method, &self.address, headers, body)
            .await
    }
}

pub(crate) fn head(reply: &Reply) -> Head {
    let headers = reply.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    Head {
        status: reply.status().as_u16(),
        headers: headers.collect(),
    }
}

async fn read(reply: Reply, id: Option<&Value>, heard: &mut Vec<Value>) -> Answer {
    if reply.is_events() {
        return read_events(&mut reply.events(MAX_MESSAGE), id, heard).await;
    }
    let body = match reply.bytes(MAX_MESSAGE).await {
        Ok(body) => body,
        Err(error) => return Answer::Gone(error_chain::in_one_line(&error)),
    };
    if body.iter().all(u8::is_ascii_whitespace) {
        return Answer::Nothing;
    }
    match serde_json::from_slice::<Value>(&body) {
        Ok(message) if message.is_object() && is_rpc(&message) => Answer::Message(message),
        _ => Answer::Other(String::from_utf8_lossy(&body).into_owned()),
    }
}

fn is_rpc(message: &Value) -> bool {
    let has = |member| message.get(member).is_some();
    has("jsonrpc") || has("result") || message["error"]["code"].is_i64()
}

/// Reads events until the answer to `id` arrives.
async fn read_events(events: &mut Events, id: Option<&Value>, heard: &mut Vec<Value>) -> Answer {
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => {
                return Answer::Gone("the stream of events ended without an answer".to_owned());
            }
            Err(error) => return Answer::Gone(error_chain::in_one_line(&error)),
        };
        let Ok(message) = serde_json::from_str::<Value>(&event.data) else {
            // Events without data only provide an event id; events of other types are ignored.
            continue;
        };
        if matches!(kind(&message, id), MessageKind::Answer) {
            return Answer::Message(message);
        }
        if heard.len() < MAX_HEARD {
            heard.push(message);
        }
    }
}
