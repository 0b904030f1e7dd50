//! A stream of a session, which several connections can read one after another.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_transport::{Held, http::sse};

use super::{
    event_id::StreamName,
    replay::{AfterEvents, Replay},
    settings::HttpSettings,
    turn::Source,
};
use crate::{quota::Share, replica::StreamLog};

/// A stream of a session.
pub(super) struct EventStream {
    pub(super) number: u64,
    name: StreamName,
    pub(super) source: Arc<Source>,
    state: Mutex<StreamState>,
    /// The log for its events, if the stream can be resumed after this replica has ended.
    log: Option<StreamLog>,
}

struct StreamState {
    replay: Replay,
    reading: ReadBy,
}

impl StreamState {
    fn is_read_by(&self, reader: u64) -> bool {
        matches!(self.reading, ReadBy::Reader(own) | ReadBy::Log(own, _) if own == reader)
    }
}

/// The reader of a stream.
#[derive(Clone, Copy)]
enum ReadBy {
    /// The reader with this number.
    Reader(u64),
    /// Only the log, as the reader with this number, since this time.
    Log(u64, Instant),
    /// No reader since this time.
    NoReader(Instant),
}

/// How a connection starts to read.
pub(super) enum Begin {
    /// With an event without data, then these messages, which were taken from the queue before.
    Primed(Vec<u8>),
    /// With these messages.
    With(Vec<u8>),
    /// With the messages after an event.
    After(u64),
}

impl EventStream {
    /// Creates a stream. `kept` is the share of the quota for the events that are kept.
    pub(super) fn new(
        number: u64,
        name: StreamName,
        source: Arc<Source>,
        kept: Share,
        log: Option<StreamLog>,
    ) -> Self {
        Self {
            number,
            name,
            source,
            state: Mutex::new(StreamState {
                replay: Replay::new(kept),
                reading: ReadBy::NoReader(Instant::now()),
            }),
            log,
        }
    }

    /// Whether a connection is reading it.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.state().reading, ReadBy::Reader(_))
    }

    /// How long no client has read it.
    pub(super) fn left_for(&self) -> Duration {
        match self.state().reading {
            ReadBy::Reader(_) => Duration::ZERO,
            ReadBy::Log(_, at) | ReadBy::NoReader(at) => at.elapsed(),
        }
    }

    /// Whether a message of this length may be queued: for a client that reads, or as far as the
    /// quota allows for a client that may come back.
    pub(super) fn has_room_for(&self, bytes: usize) -> bool {
        let mut state = self.state();
        !matches!(state.reading, ReadBy::NoReader(_)) || state.replay.reserve(bytes)
    }

    /// How many bytes of events are kept.
    pub(super) fn kept_bytes(&self) -> usize {
        self.state().replay.bytes()
    }

    /// Starts to read. Returns the number of the reader, the first bytes to send, and whether the
    /// connection stays open. A connection that still reads the stream ends, because its client
    /// must have left it.
    pub(super) fn join(
        &self,
        begin: Begin,
        settings: &HttpSettings,
    ) -> (u64, Vec<u8>, AfterEvents) {
        let mut start = Vec::new();
        let mut then = AfterEvents::Stay;
        let reader = self.source.join();
        let mut state = self.state();
        let StreamState { replay, reading } = &mut *state;
        let last = replay.last();
        match begin {
            Begin::Primed(lines) => {
                // The first event of a connection has an id, with which the client can resume the
                // stream.
                sse::Frame::of(b"")
                    .with_id(&self.name.event(replay.last()))
                    .with_retry(settings.retry)
                    .append_to(&mut start);
                then = replay.record(&self.name, &lines, settings, &mut start);
            }
            Begin::With(lines) => {
                then = replay.record(&self.name, &lines, settings, &mut start);
            }
            Begin::After(event) => replay.after(event, settings, &mut start),
        }
        self.write_down(replay, last, settings);
        let before = std::mem::replace(reading, ReadBy::Reader(reader));
        drop(state);
        if let ReadBy::Reader(before) | ReadBy::Log(before, _) = before {
            self.source.leave(before);
        }
        (reader, start, then)
    }

    /// Takes queued messages as events, if it is this reader's turn. Returns `None` if the stream
    /// has ended or belongs to another reader. `held` must be dropped when the events have been
    /// sent.
    pub(super) fn poll_events(
        &self,
        reader: u64,
        context: &mut Context<'_>,
        settings: &HttpSettings,
        events: &mut Vec<u8>,
        held: &mut Held,
    ) -> Option<AfterEvents> {
        let mut state = self.state();
        if !state.is_read_by(reader) {
            return None;
        }
        if !self.source.is_turn(reader, context) {
            return Some(AfterEvents::Stay);
        }
        let mut lines = Vec::new();
        let outbox = &self.source.outbox;
        match outbox.poll_lines_holding(context, &mut lines, held) {
            Poll::Pending => Some(AfterEvents::Stay),
            Poll::Ready(None) => None,
            Poll::Ready(Some(())) => {
                let last = state.replay.last();
                let then = state.replay.record(&self.name, &lines, settings, events);
                self.write_down(&state.replay, last, settings);
                Some(then)
            }
        }
    }

    /// Writes the events after this one to the log, if the stream can be resumed after its replica
    /// has ended.
    fn write_down(&self, replay: &Replay, last: u64, settings: &HttpSettings) {
        let Some(log) = &self.log else { return };
        let from = replay.oldest();
        for (number, event) in replay.newer(last) {
            log.write(number, event, from, settings.replay_age);
        }
    }

    /// Notes that a reader has left.
    pub(super) fn leave(&self, reader: u64) {
        let mut state = self.state();
        if state.is_read_by(reader) {
            state.reading = ReadBy::NoReader(Instant::now());
        }
        drop(state);
        self.source.leave(reader);
    }

    /// Continues to write events to the log while no client reads the stream, if it can be resumed
    /// after its replica has ended. Otherwise the events would wait here, although the client may
    /// come back to another replica.
    pub(super) fn log_on(self: &Arc<Self>, settings: &HttpSettings) {
        let Some(log) = &self.log else { return };
        if self.source.outbox.is_closed() && self.source.outbox.pending_bytes() == 0 {
            return;
        }
        // The log joins here and not in the task below, because a client may read the stream again
        // before that task begins, and the log would take the stream away from that client.
        let Some(reader) = self.join_log() else {
            return;
        };
        let (stream, settings) = (Arc::clone(self), settings.clone());
        // This task ends with the stream, or when a client reads it.
        log.spawn(async move {
            let mut events = Vec::new();
            poll_fn(|context| {
                loop {
                    events.clear();
                    // Nothing is sent, so nothing has to be held.
                    let mut held = Held::default();
                    let polled =
                        stream.poll_events(reader, context, &settings, &mut events, &mut held);
                    match polled {
                        None => return Poll::Ready(()),
                        Some(AfterEvents::Stay) if events.is_empty() => return Poll::Pending,
                        Some(_) => {}
                    }
                }
            })
            .await;
            stream.leave(reader);
        });
    }

    /// Makes the log the reader, unless a connection or the log is already reading.
    fn join_log(&self) -> Option<u64> {
        let reader = self.source.join();
        let mut state = self.state();
        if matches!(state.reading, ReadBy::NoReader(_)) {
            state.reading = ReadBy::Log(reader, Instant::now());
            return Some(reader);
        }
        drop(state);
        self.source.leave(reader);
        None
    }

    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_transport::{Limits, Outbox};

    use super::*;
    use crate::quota::{CallerKey, Quota};

    #[test]
    fn the_log_reads_only_what_no_client_reads() {
        let (ada, quota) = (CallerKey::digest("ada"), Quota::new(2000, 200));
        let source = Arc::new(Source::new(Outbox::new(Limits::default())));
        let stream = EventStream::new(1, StreamName::Local(1), source, quota.share(ada), None);
        let (client, _, _) = stream.join(Begin::With(Vec::new()), &HttpSettings::default());
        assert_eq!(stream.join_log(), None);
        assert!(stream.state().is_read_by(client));
        stream.leave(client);
        let log = stream.join_log().unwrap();
        assert_eq!(stream.join_log(), None);
        let (client, _, _) = stream.join(Begin::After(0), &HttpSettings::default());
        assert!(!stream.state().is_read_by(log));
        assert!(stream.state().is_read_by(client));
    }

    #[test]
    fn what_waits_for_a_client_that_is_gone_is_paid_for() {
        let (ada, quota) = (CallerKey::digest("ada"), Quota::new(2000, 200));
        let settings = HttpSettings::default();
        let source = || Arc::new(Source::new(Outbox::new(Limits::default())));
        let stream = EventStream::new(1, StreamName::Local(1), source(), quota.share(ada), None);
        let other = EventStream::new(2, StreamName::Local(2), source(), quota.share(ada), None);
        // Half of a caller's quota is for such messages.
        assert!(stream.has_room_for(80));
        assert!(!other.has_room_for(80));
        // A client that reads needs no quota.
        let (reader, _, _) = other.join(Begin::With(Vec::new()), &settings);
        assert!(other.has_room_for(80));
        other.leave(reader);
        assert!(!other.has_room_for(80));
        // The queued message has become an event, which takes less of the quota.
        stream.join(Begin::With(b"a\n".to_vec()), &settings);
        assert!(other.has_room_for(80));
        drop((stream, other));
        assert!(quota.has_room(ada, 200).is_ok());
    }
}
