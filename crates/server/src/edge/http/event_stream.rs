//! A stream of a session: messages on their way to a client, over one connection after another.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use bytes::Bytes;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_transport::http::sse;

use super::{
    body::BodyKind,
    keep_alive::KeepAlive,
    replay::{self, Replay, Then},
    service::Site,
    session::HttpSession,
    settings::HttpSettings,
    turn::Source,
};

/// One stream.
pub(super) struct EventStream {
    pub(super) number: u64,
    pub(super) source: Arc<Source>,
    state: Mutex<StreamState>,
}

struct StreamState {
    replay: Replay,
    reading: ReadBy,
}

/// Who reads a stream.
#[derive(Clone, Copy)]
enum ReadBy {
    /// The reader with this number.
    Reader(u64),
    /// Nobody since then.
    Nobody(Instant),
}

/// How a connection begins to read.
pub(super) enum Begin {
    /// With these messages, taken from the queue before it was a stream.
    With(Vec<u8>),
    /// With what came after an event.
    After(u64),
}

impl EventStream {
    pub(super) fn new(number: u64, source: Arc<Source>) -> Self {
        Self {
            number,
            source,
            state: Mutex::new(StreamState {
                replay: Replay::default(),
                reading: ReadBy::Nobody(Instant::now()),
            }),
        }
    }

    /// Whether a connection reads it now.
    pub(super) fn is_read(&self) -> bool {
        matches!(self.state().reading, ReadBy::Reader(_))
    }

    /// How long nobody has been reading it.
    pub(super) fn left_for(&self) -> Duration {
        match self.state().reading {
            ReadBy::Reader(_) => Duration::ZERO,
            ReadBy::Nobody(at) => at.elapsed(),
        }
    }

    /// How many bytes are kept of it.
    pub(super) fn kept_bytes(&self) -> usize {
        self.state().replay.bytes()
    }

    /// A connection that reads the stream. One that still does is shown out: its client has left
    /// it, or it would not be here.
    pub(super) fn read(
        self: Arc<Self>,
        site: &Arc<Site>,
        session: &Arc<HttpSession>,
        begin: Begin,
    ) -> BodyKind {
        let settings = &site.settings;
        let mut start = Vec::new();
        let mut then = Then::Stay;
        let reader = self.source.join();
        let mut state = self.state();
        match begin {
            Begin::With(lines) => {
                if session.primes() {
                    self.prime(&state.replay, settings, &mut start);
                }
                then = state
                    .replay
                    .record(self.number, &lines, settings, &mut start);
            }
            Begin::After(event) => state.replay.after(event, settings, &mut start),
        }
        let before = std::mem::replace(&mut state.reading, ReadBy::Reader(reader));
        drop(state);
        if let ReadBy::Reader(before) = before {
            self.source.leave(before);
        }
        BodyKind::Events(Box::new(EventBody {
            site: Arc::clone(site),
            session: Arc::clone(session),
            stream: self,
            reader,
            start,
            then,
            keep_alive: KeepAlive::new(settings.keep_alive),
        }))
    }

    /// The first event of a connection: it names the place to come back to.
    fn prime(&self, replay: &Replay, settings: &HttpSettings, events: &mut Vec<u8>) {
        sse::Frame::of(b"")
            .with_id(&replay::id(self.number, replay.last()))
            .with_retry(settings.retry)
            .append_to(events);
    }

    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock()
    }
}

/// One connection that reads a stream.
pub(super) struct EventBody {
    site: Arc<Site>,
    session: Arc<HttpSession>,
    stream: Arc<EventStream>,
    reader: u64,
    /// What goes out first: the priming event, or what the client missed.
    start: Vec<u8>,
    then: Then,
    keep_alive: KeepAlive,
}

impl EventBody {
    pub(super) fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = std::mem::take(&mut self.start);
        let is_over = self.then == Then::Detach || self.poll_events(context, &mut events);
        if events.is_empty() && is_over {
            return Poll::Ready(None);
        }
        self.keep_alive.poll_piece(context, events)
    }

    /// Takes what is queued, if it is this connection's turn. True when the stream is at its end,
    /// or no longer this connection's.
    fn poll_events(&mut self, context: &mut Context<'_>, events: &mut Vec<u8>) -> bool {
        let stream = &*self.stream;
        let mut state = stream.state();
        if !matches!(state.reading, ReadBy::Reader(reader) if reader == self.reader) {
            return true;
        }
        if !stream.source.is_turn(self.reader, context) {
            return false;
        }
        let mut lines = Vec::new();
        match stream.source.outbox.poll_lines(context, &mut lines) {
            Poll::Pending => false,
            Poll::Ready(None) => true,
            Poll::Ready(Some(())) => {
                let settings = &self.site.settings;
                self.then = state.replay.record(stream.number, &lines, settings, events);
                self.then == Then::Detach
            }
        }
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        let mut state = self.stream.state();
        if matches!(state.reading, ReadBy::Reader(reader) if reader == self.reader) {
            state.reading = ReadBy::Nobody(Instant::now());
        }
        drop(state);
        self.stream.source.leave(self.reader);
        self.session.touch();
    }
}
