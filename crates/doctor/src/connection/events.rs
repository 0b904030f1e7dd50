//! HTTP+SSE, the transport of 2024-11-05: one event stream, and a URL for messages.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::time::timeout_at;
use turnbuckle::{
    client::Direction,
    transport::http::client::{Events, HeaderMap, Method},
};
use turnbuckle_base::error_chain;

use super::{
    Exchange, HttpTransport, MAX_MESSAGE, Post,
    answers::{Messages, answer, everything},
    http::head,
};

/// An open stream, and the URL for messages.
pub(crate) struct EventsTransport {
    events: Events,
    posts: HttpTransport,
}

/// Why a URL is not a server with this transport.
pub(crate) enum NotEvents {
    /// It sent another kind of answer, with this status and media type.
    Other {
        status: u16,
        media_type: String,
    },
    /// A stream that does not begin with the `endpoint` event.
    NoEndpoint(String),
    Failed(String),
}

impl EventsTransport {
    pub(crate) async fn open(
        transport: &HttpTransport,
        limit: Duration,
    ) -> Result<Self, NotEvents> {
        let (agent, address) = (&transport.agent, &transport.address);
        let until = Instant::now() + limit;
        let late = || NotEvents::Failed("no answer in time".to_owned());
        let asked = agent.events(address, HeaderMap::new());
        let reply = match timeout_at(until.into(), asked).await {
            Ok(reply) => {
                reply.map_err(|error| NotEvents::Failed(error_chain::in_one_line(&error)))?
            }
            Err(_) => return Err(late()),
        };
        let head = head(&reply);
        if head.status != 200 || !head.is_events() {
            return Err(NotEvents::Other {
                status: head.status,
                media_type: head.media_type(),
            });
        }
        let mut events = reply.events(MAX_MESSAGE);
        let first = match timeout_at(until.into(), events.next()).await {
            Ok(Ok(first)) => first,
            Ok(Err(error)) => return Err(NotEvents::Failed(error_chain::in_one_line(&error))),
            Err(_) => return Err(NotEvents::NoEndpoint("no event in time".to_owned())),
        };
        let first = first.ok_or_else(|| NotEvents::NoEndpoint("an empty stream".to_owned()))?;
        if first.event.as_deref() != Some("endpoint") {
            return Err(NotEvents::NoEndpoint(first.data));
        }
        let endpoint = address
            .join(&first.data)
            .map_err(|error| NotEvents::NoEndpoint(error.to_string()))?;
        Ok(Self {
            events,
            posts: HttpTransport::new(agent.clone(), endpoint, transport.wire.clone()),
        })
    }

    pub(crate) async fn exchange(&mut self, message: Value, limit: Duration) -> Exchange {
        let began = Instant::now();
        let posted = self.post(&message, limit).await;
        let is_taken = posted.status().is_some_and(|status| status < 300);
        if !is_taken {
            return posted;
        }
        let id = message.get("id").cloned();
        let mut heard = Vec::new();
        let answer = answer(self, id.as_ref(), began + limit, &mut heard).await;
        Exchange {
            answer,
            heard,
            took: began.elapsed(),
            head: None,
            ..posted
        }
    }

    /// Posts a message and waits only for the status.
    pub(crate) async fn post(&self, message: &Value, limit: Duration) -> Exchange {
        let post = Post {
            method: Method::POST,
            headers: vec![("content-type", "application/json".to_owned())],
            body: message.to_string(),
        };
        self.posts.send(post, message.clone(), limit).await
    }

    /// All messages that arrive within a time.
    pub(crate) async fn listen(&mut self, time: Duration) -> Vec<Value> {
        everything(self, Instant::now() + time).await
    }
}

impl Messages for EventsTransport {
    async fn next(&mut self) -> Result<Value, String> {
        loop {
            let event = match self.events.next().await {
                Ok(Some(event)) => event,
                Ok(None) => return Err("the stream of events ended".to_owned()),
                Err(error) => return Err(error_chain::in_one_line(&error)),
            };
            self.posts.wire.pass(Direction::In, event.data.as_bytes());
            if let Ok(message) = serde_json::from_str(&event.data) {
                return Ok(message);
            }
        }
    }

    async fn reply(&mut self, answer: &Value, until: Instant) {
        let left = until.saturating_duration_since(Instant::now());
        let _ = self.post(answer, left).await;
    }
}
