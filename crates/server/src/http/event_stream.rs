//! A stream of a session: events with ids, kept for a while for a client that comes back.

use std::{
    collections::VecDeque,
    future::Future as _,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use bytes::Bytes;
use tokio::time::Sleep;
use turnbuckle_transport::{Outbox, http::sse};

use super::{body::Kind, settings::HttpSettings};

/// Messages on their way to a client, over one connection after another.
pub(super) struct EventStream {
    number: u64,
    outbox: Outbox,
    log: Mutex<Log>,
    keep: Keep,
    keep_alive: Duration,
}

/// How much is kept for a client that comes back.
struct Keep {
    events: usize,
    bytes: usize,
    age: Duration,
}

#[derive(Default)]
struct Log {
    events: VecDeque<Logged>,
    bytes: usize,
    last: u64,
    /// Connections that read this stream. The newest gets the messages; the others wait for it to
    /// go, because a message travels on one stream only.
    readers: Vec<(u64, Option<Waker>)>,
    next_reader: u64,
    finished: Option<Instant>,
}

struct Logged {
    number: u64,
    event: Bytes,
    at: Instant,
}

impl EventStream {
    pub(super) fn new(number: u64, outbox: Outbox, settings: &HttpSettings) -> Self {
        Self {
            number,
            outbox,
            log: Mutex::default(),
            keep: Keep {
                events: settings.replay_events,
                bytes: settings.replay_bytes,
                age: settings.replay_age,
            },
            keep_alive: settings.keep_alive,
        }
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Whether a connection reads it now.
    pub(super) fn is_read(&self) -> bool {
        !self.log().readers.is_empty()
    }

    /// Whether nobody can come back for it any more.
    pub(super) fn is_forgettable(&self) -> bool {
        let log = self.log();
        log.readers.is_empty() && log.finished.is_some_and(|at| at.elapsed() > self.keep.age)
    }

    /// A connection that reads the stream, from an event on (`None`: from now on).
    pub(super) fn read(self: Arc<Self>, after: Option<u64>, first: Vec<u8>) -> Kind {
        let mut log = self.log();
        let reader = log.next_reader;
        log.next_reader += 1;
        let missed = after.map_or_else(Vec::new, |after| {
            log.events
                .iter()
                .filter(|logged| logged.number > after)
                .map(|logged| logged.event.clone())
                .collect()
        });
        log.readers.push((reader, None));
        drop(log);
        let mut start = first;
        for event in &missed {
            start.extend_from_slice(event);
        }
        let keep_alive = self.keep_alive;
        Kind::Events(Box::new(EventBody {
            stream: self,
            reader,
            start,
            keep_alive,
            quiet: Box::pin(tokio::time::sleep(keep_alive)),
        }))
    }

    /// The first event of a stream: it names the place to come back to.
    pub(super) fn prime(&self, retry: Duration) -> Vec<u8> {
        let mut event = Vec::new();
        sse::Frame::of(b"")
            .with_id(&self.id_of(0))
            .with_retry(retry)
            .append_to(&mut event);
        event
    }

    /// Numbers messages that were taken from the outbox before this was a stream.
    pub(super) fn adopt(&self, lines: &[u8]) -> Vec<u8> {
        let mut events = Vec::new();
        self.number_lines(&mut self.log(), lines, &mut events);
        events
    }

    fn id_of(&self, event: u64) -> String {
        format!("{}-{event}", self.number)
    }

    fn number_lines(&self, log: &mut Log, lines: &[u8], events: &mut Vec<u8>) {
        for line in lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            log.last += 1;
            let start = events.len();
            sse::Frame::of(line)
                .with_id(&self.id_of(log.last))
                .append_to(events);
            self.keep_event(log, Bytes::copy_from_slice(&events[start..]));
        }
    }

    fn keep_event(&self, log: &mut Log, event: Bytes) {
        let at = Instant::now();
        log.bytes += event.len();
        log.events.push_back(Logged {
            number: log.last,
            event,
            at,
        });
        while log.events.front().is_some_and(|oldest| {
            log.events.len() > self.keep.events
                || log.bytes > self.keep.bytes
                || at - oldest.at > self.keep.age
        }) {
            if let Some(oldest) = log.events.pop_front() {
                log.bytes -= oldest.event.len();
            }
        }
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads a place that one of our event ids names: the stream and the event.
pub(super) fn parse_id(id: &str) -> Option<(u64, u64)> {
    let (stream, event) = id.split_once('-')?;
    Some((stream.parse().ok()?, event.parse().ok()?))
}

/// One connection that reads a stream.
pub(super) struct EventBody {
    stream: Arc<EventStream>,
    reader: u64,
    /// What goes out first: the priming event, or what the client missed.
    start: Vec<u8>,
    keep_alive: Duration,
    quiet: Pin<Box<Sleep>>,
}

impl EventBody {
    pub(super) fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut events = std::mem::take(&mut self.start);
        let is_over = self.poll_events(context, &mut events);
        if events.is_empty() {
            if is_over {
                return Poll::Ready(None);
            }
            if self.quiet.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            events.extend_from_slice(sse::KEEP_ALIVE);
        }
        let until = tokio::time::Instant::now() + self.keep_alive;
        self.quiet.as_mut().reset(until);
        // The timer was moved: it must know whom to wake.
        let _ = self.quiet.as_mut().poll(context);
        Poll::Ready(Some(events.into()))
    }

    /// Takes what is queued, if it is this connection's turn. True when the stream has ended.
    fn poll_events(&self, context: &mut Context<'_>, events: &mut Vec<u8>) -> bool {
        let stream = &self.stream;
        let mut log = stream.log();
        if log
            .readers
            .last()
            .is_none_or(|(newest, _)| *newest != self.reader)
        {
            let own = log
                .readers
                .iter_mut()
                .find(|(reader, _)| *reader == self.reader);
            if let Some((_, waker)) = own {
                *waker = Some(context.waker().clone());
            }
            return log.finished.is_some();
        }
        let mut lines = Vec::new();
        match stream.outbox.poll_lines(context, &mut lines) {
            Poll::Pending => false,
            Poll::Ready(Some(())) => {
                stream.number_lines(&mut log, &lines, events);
                // Asking again leaves word of where to wake us.
                let mut more = Vec::new();
                match stream.outbox.poll_lines(context, &mut more) {
                    Poll::Pending => false,
                    Poll::Ready(Some(())) => {
                        stream.number_lines(&mut log, &more, events);
                        context.waker().wake_by_ref();
                        false
                    }
                    Poll::Ready(None) => Self::finish(&mut log),
                }
            }
            Poll::Ready(None) => Self::finish(&mut log),
        }
    }

    fn finish(log: &mut Log) -> bool {
        log.finished.get_or_insert_with(Instant::now);
        for (_, waker) in &mut log.readers {
            if let Some(waker) = waker.take() {
                waker.wake();
            }
        }
        true
    }
}

impl Drop for EventBody {
    /// The next newest connection takes over.
    fn drop(&mut self) {
        let mut log = self.stream.log();
        log.readers.retain(|(reader, _)| *reader != self.reader);
        if let Some(waker) = log.readers.last_mut().and_then(|(_, waker)| waker.take()) {
            waker.wake();
        }
    }
}
