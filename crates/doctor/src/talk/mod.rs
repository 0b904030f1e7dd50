//! Talking to a server, message by message, with nothing smoothed over: what a client library
//! would repair or hide is what is looked for.

pub(crate) mod conduct;
mod events;
mod exchange;
mod http;
mod pipe;
mod speech;

pub(crate) use events::{EventsRoad, NotEvents};
pub(crate) use exchange::{Answer, Exchange, Head};
pub(crate) use http::{HttpRoad, Post, head};
pub(crate) use pipe::{Pipe, Stray};
pub(crate) use speech::Speech;

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle::protocol::{http::header, meta::key};

use super::{patience::Patience, report::Report};

/// 16 MiB: more than any list or page of HTML, and a bound on what a server can make us keep.
pub(crate) const MAX_MESSAGE: usize = 16 * 1024 * 1024;

/// How many messages that belong to nothing are kept from one exchange.
const MAX_HEARD: usize = 256;

/// How messages travel.
pub(crate) enum Road {
    Pipe(Box<Pipe>),
    Http(Box<HttpRoad>),
    Events(Box<EventsRoad>),
}

/// A conversation in one era over one road.
pub(crate) struct Talk<'r> {
    pub(crate) road: Road,
    pub(crate) speech: Speech,
    pub(crate) patience: Patience,
    pub(crate) report: &'r Report,
    next: u64,
}

impl<'r> Talk<'r> {
    pub(crate) fn new(road: Road, speech: Speech, patience: Patience, report: &'r Report) -> Self {
        Self {
            road,
            speech,
            patience,
            report,
            next: 1,
        }
    }

    /// The next free id.
    pub(crate) fn next_id(&mut self) -> Value {
        self.next += 1;
        json!(self.next - 1)
    }

    /// Sends a request and waits for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Exchange {
        let patience = self.patience.probe;
        self.ask_within(method, params, patience).await
    }

    pub(crate) async fn ask_within(
        &mut self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Exchange {
        let id = self.next_id();
        let message = self.speech.request(&id, method, params);
        self.send(message, patience).await
    }

    /// Sends a request as it is, and waits for its answer.
    pub(crate) async fn send(&mut self, message: Value, patience: Duration) -> Exchange {
        // The first answer has the start of the program in it, which is looked at as such.
        let is_start = matches!(&self.road, Road::Pipe(pipe) if !pipe.has_answered);
        let exchange = self.exchange(message, patience).await;
        conduct::look(self.report, &self.speech, &exchange);
        if !is_start {
            conduct::pace(self.report, &exchange);
        }
        exchange
    }

    /// Sends a modern request whose headers say what its body says, also where that is wrong.
    pub(crate) async fn send_as_written(&mut self, message: Value) -> Exchange {
        let patience = self.patience.probe;
        let Road::Http(road) = &self.road else {
            return self.send(message, patience).await;
        };
        let mut post = road.post(&self.speech, &message);
        let said = message["params"]["_meta"][key::PROTOCOL_VERSION].as_str();
        for (name, value) in &mut post.headers {
            if *name == header::PROTOCOL_VERSION
                && let Some(said) = said
            {
                said.clone_into(value);
            }
        }
        let exchange = road.send(post, message, patience).await;
        conduct::look(self.report, &self.speech, &exchange);
        exchange
    }

    async fn exchange(&mut self, message: Value, patience: Duration) -> Exchange {
        if let Road::Pipe(pipe) = &self.road
            && pipe.is_gone()
        {
            self.report.mute(true);
        }
        match &mut self.road {
            Road::Pipe(pipe) => pipe.exchange(message, patience).await,
            Road::Http(http) => http.exchange(&self.speech, message, patience).await,
            Road::Events(events) => events.exchange(message, patience).await,
        }
    }

    /// Sends a notification. Over HTTP there is an answer even to that.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) -> Exchange {
        let message = Speech::notification(method, params);
        let patience = self.patience.probe;
        match &mut self.road {
            Road::Pipe(pipe) => pipe.write(&message, patience).await,
            Road::Http(http) => http.exchange(&self.speech, message, patience).await,
            Road::Events(events) => events.post(&message, patience).await,
        }
    }

    /// Whether it goes over HTTP with a status for each message.
    pub(crate) fn is_http(&self) -> bool {
        matches!(self.road, Road::Http(_))
    }

    pub(crate) fn is_pipe(&self) -> bool {
        matches!(self.road, Road::Pipe(_))
    }

    pub(crate) fn is_modern(&self) -> bool {
        self.speech.is_modern()
    }
}

/// What a message is to somebody who waits for an answer with this id.
enum Kind {
    Answer,
    Request(Value),
    Other,
}

fn kind(message: &Value, id: Option<&Value>) -> Kind {
    let has_method = message.get("method").is_some();
    let own = message.get("id").filter(|own| !own.is_null());
    match (has_method, own) {
        (true, Some(own)) => Kind::Request(own.clone()),
        // An answer whose id was turned into a text, or lost, is still an answer, if a bad one.
        (false, Some(own)) if id.is_some_and(|id| is_like(own, id)) => Kind::Answer,
        (false, None) if message.get("error").is_some() && id.is_some() => Kind::Answer,
        (true, None) | (false, _) => Kind::Other,
    }
}

fn is_like(own: &Value, id: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string().trim_end_matches(".0").to_owned(),
    };
    text(own) == text(id)
}

/// What a client that offers nothing answers when a server asks.
fn refusal(message: &Value, id: &Value) -> Value {
    if message["method"] == "ping" {
        return json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    }
    let error = json!({ "code": -32601, "message": "turnbuckle doctor offers no such method" });
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}
