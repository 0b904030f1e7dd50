//! Event streams of a session: relayed, and resumed when they break.

use std::time::{Duration, Instant};

use tokio::time::timeout;
use turnbuckle::{
    protocol::{
        envelope::{Id, Outline},
        http::header,
    },
    transport::http::{
        client::{Events, HttpError},
        sse::Event,
    },
};

use super::{
    bridge::{Bridge, MAX_MESSAGE},
    envelope::{Envelope, set},
};

/// How long to wait before a broken stream is requested again, if the server does not say.
const PAUSE: Duration = Duration::from_secs(1);

/// The shortest and the longest such wait that a server can set.
const WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_mins(1));

/// How many attempts in a row may fail, with the wait doubled each time. A stream that ends without a message
/// counts as a failure too.
const MAX_FAILURES: u32 = 6;

/// A stream that lasted this long counts as successful even without messages: proxies cut quiet
/// streams.
const QUIET_STREAM: Duration = Duration::from_secs(10);

/// The position of a stream.
#[derive(Debug, Default)]
struct StreamPosition {
    last: Option<String>,
    retry: Option<Duration>,
    failures: u32,
}

impl StreamPosition {
    fn note(&mut self, event: &Event) {
        self.failures = 0;
        if let Some(id) = &event.id {
            self.last = Some(id.clone()).filter(|id| !id.is_empty());
        }
        self.retry = event.retry.or(self.retry);
    }

    fn wait(&self) -> Duration {
        let least = self.retry.unwrap_or(PAUSE).max(WAITS.0);
        let doubled = least.saturating_mul(1 << self.failures.min(MAX_FAILURES));
        doubled.min(WAITS.1)
    }
}

impl Bridge {
    /// Relays the messages of a stream up to the answer to a request. A broken stream is resumed if its
    /// server sent event ids. Returns `false` if there is no answer.
    pub(super) async fn answered(&self, mut events: Events, id: Option<&Id>) -> bool {
        let mut position = StreamPosition::default();
        loop {
            if self.drain(&mut events, id, &mut position).await {
                return true;
            }
            // If no single answer is awaited, the end of the stream ends this.
            if id.is_none() || position.last.is_none() {
                return false;
            }
            match self.again(&mut position).await {
                Some(next) => events = *next,
                None => return false,
            }
        }
    }

    /// The same for a stream that cannot be resumed.
    pub(super) async fn heard_once(&self, mut events: Events, id: Option<&Id>) -> bool {
        self.drain(&mut events, id, &mut StreamPosition::default())
            .await
    }

    /// Relays the session's stream for messages that do not belong to a request.
    pub(super) async fn hear(&self) {
        let mut position = StreamPosition::default();
        let StreamAnswer::Stream(mut events) = self.events_from(&position).await else {
            return;
        };
        loop {
            self.drain(&mut events, None, &mut position).await;
            let mut next = self.again(&mut position).await;
            if next.is_none() && position.last.take().is_some() {
                // The server no longer keeps the events of that stream, but later messages can still be received.
                next = self.again(&mut position).await;
            }
            let Some(next) = next else { return };
            events = next;
        }
    }

    /// Requests a stream again until it opens. `None` if the server refuses it, or fails for too long.
    async fn again(&self, position: &mut StreamPosition) -> Option<Box<Events>> {
        while position.failures < MAX_FAILURES {
            tokio::time::sleep(position.wait()).await;
            match self.events_from(position).await {
                StreamAnswer::Stream(events) => {
                    // Counts as a failure until a message arrives.
                    position.failures += 1;
                    return Some(events);
                }
                StreamAnswer::Refused => return None,
                StreamAnswer::Lost => position.failures += 1,
            }
        }
        None
    }

    async fn events_from(&self, position: &StreamPosition) -> StreamAnswer {
        let (address, mut headers) = self.head(&Envelope::parse(b"{}"));
        if let Some(last) = &position.last {
            set(&mut headers, header::LAST_EVENT_ID, last);
        }
        match timeout(self.wait, self.agent.events(&address, headers)).await {
            Ok(Ok(reply)) if reply.status().is_success() && reply.is_events() => {
                StreamAnswer::Stream(Box::new(reply.events(MAX_MESSAGE)))
            }
            Ok(Ok(reply)) if reply.status().is_server_error() => StreamAnswer::Lost,
            Ok(Ok(_)) => StreamAnswer::Refused,
            Ok(Err(_)) | Err(_) => StreamAnswer::Lost,
        }
    }

    /// Passes on the messages of a stream until it ends, or until the awaited answer.
    async fn drain(
        &self,
        events: &mut Events,
        id: Option<&Id>,
        position: &mut StreamPosition,
    ) -> bool {
        let opened = Instant::now();
        loop {
            match events.next().await {
                Ok(Some(event)) => {
                    position.note(&event);
                    if self.passed(&event) && id.is_some_and(|id| is_answer(&event.data, id)) {
                        return true;
                    }
                }
                Err(error @ HttpError::TooLarge { .. }) => {
                    tracing::warn!(%error, "a message was lost");
                    // Resuming from an earlier event would repeat this message.
                    position.last = None;
                    break;
                }
                Ok(None) | Err(_) => break,
            }
        }
        if opened.elapsed() >= QUIET_STREAM {
            position.failures = 0;
        }
        false
    }

    /// Passes on the data of an event, if it is a message.
    pub(super) fn passed(&self, event: &Event) -> bool {
        let is_message = event.event.as_deref().is_none_or(|kind| kind == "message");
        if event.data.is_empty() || !is_message {
            return false;
        }
        self.deliver(event.data.as_bytes());
        true
    }
}

/// The result of requesting a stream.
enum StreamAnswer {
    Stream(Box<Events>),
    /// The server does not have the stream.
    Refused,
    /// The request failed, but may succeed later.
    Lost,
}

fn is_answer(message: &str, id: &Id) -> bool {
    let outline = Outline::of(message.as_bytes());
    outline.method().is_none() && outline.id().as_ref() == Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_says_when_to_come_back_within_bounds() {
        let mut position = StreamPosition::default();
        assert_eq!(position.wait(), PAUSE);
        let event = |id: &str, millis| Event {
            id: Some(id.to_owned()),
            retry: Some(Duration::from_millis(millis)),
            ..Event::default()
        };
        position.note(&event("7", 0));
        assert_eq!(
            (position.wait(), position.last.as_deref()),
            (WAITS.0, Some("7"))
        );
        position.failures = 2;
        assert_eq!(position.wait(), WAITS.0 * 4);
        position.note(&event("", u64::MAX));
        assert_eq!((position.wait(), position.last.as_deref()), (WAITS.1, None));
    }

    #[test]
    fn an_answer_has_the_id_and_no_method() {
        assert!(is_answer(r#"{"id":7,"result":{}}"#, &Id::Int(7)));
        assert!(!is_answer(r#"{"id":7,"method":"ping"}"#, &Id::Int(7)));
        assert!(!is_answer(r#"{"id":"7","result":{}}"#, &Id::Int(7)));
    }
}
