//! The stream of one call in the log that replicas share.

use std::{sync::Arc, time::Duration};

use turnbuckle_protocol::envelope::{self, Frame, Message};
use turnbuckle_store::event::LoggedEvent;

use super::{Place, Replicas, event_writer::EventToWrite};

/// The first byte of a stored event: whether it answers the call.
const MESSAGE: u8 = 0;
const ANSWER: u8 = 1;

/// Writes the events of one stream to the log.
pub(crate) struct StreamLog {
    replicas: Arc<Replicas>,
    name: Arc<str>,
    purpose: Vec<u8>,
}

/// The events that the log has after a given event of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Logged {
    /// The events in the form in which they are sent to the client.
    pub(crate) events: String,
    /// Whether the call was answered, in these events or before.
    pub(crate) is_answered: bool,
}

impl StreamLog {
    /// Writes an event in the form in which it is sent, and forgets the events before `from`.
    pub(crate) fn write(&self, number: u64, event: &[u8], from: u64, keep: Duration) {
        let Some(writer) = &self.replicas.events else {
            return;
        };
        let mut bytes = Vec::with_capacity(1 + event.len());
        bytes.push(if is_answer(event) { ANSWER } else { MESSAGE });
        bytes.extend_from_slice(event);
        let Some(bytes) = self.replicas.seal_for(&self.purpose, &bytes) else {
            return;
        };
        writer.write(EventToWrite {
            stream: Arc::clone(&self.name),
            event: LoggedEvent { number, bytes },
            from,
            keep,
        });
    }

    /// Runs work of the stream in a task of its own.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.replicas.runtime.spawn(work);
    }
}

impl Replicas {
    /// The log of a session's stream, if streams can be resumed after their replica has ended.
    /// `session` is the key of the session in stores.
    pub(crate) fn stream_log(
        self: &Arc<Self>,
        place: Place,
        stream: u64,
        session: &str,
    ) -> Option<StreamLog> {
        self.events.as_ref()?;
        Some(StreamLog {
            replicas: Arc::clone(self),
            name: name(place, stream).into(),
            purpose: purpose(session),
        })
    }

    /// The events that the log has after a given event of a session's stream. `None` if some of
    /// them are missing, or if the log cannot be read.
    pub(crate) async fn logged(
        &self,
        place: Place,
        stream: u64,
        session: &str,
        after: u64,
    ) -> Option<Logged> {
        self.events.as_ref()?;
        let read = self.event_log.read(&name(place, stream)).await;
        let events = read
            .inspect_err(|error| tracing::error!(%error, "the log of a stream cannot be read"))
            .ok()?;
        let purpose = purpose(session);
        let mut logged = Logged::default();
        let mut next = after + 1;
        for event in events {
            let bytes = self.open_for(&purpose, event.bytes)?;
            let (kind, text) = bytes.split_first()?;
            logged.is_answered |= *kind == ANSWER;
            if event.number <= after {
                continue;
            }
            // The client would never get the missing event.
            if event.number != next {
                return None;
            }
            next += 1;
            logged.events.push_str(str::from_utf8(text).ok()?);
        }
        Some(logged)
    }
}

/// Whether the message of an event is a response.
fn is_answer(event: &[u8]) -> bool {
    let mut lines = event.split(|byte| *byte == b'\n');
    let message = lines.find_map(|line| line.strip_prefix(b"data: "));
    let message = message.map(envelope::parse);
    matches!(message, Some(Ok(Frame::One(Message::Response(_)))))
}

fn name(place: Place, stream: u64) -> String {
    format!("{place}-{stream}")
}

/// The events of one session cannot be decrypted for another.
fn purpose(session: &str) -> Vec<u8> {
    [b"event of ", session.as_bytes()].concat()
}
