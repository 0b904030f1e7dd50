//! Stores the events of streams in the background.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{sleep, timeout},
};
use turnbuckle_store::event::{EventLog, LoggedEvent};

/// How many events may wait to be written. Further events are not written; if the replica ends, the
/// client of such a stream is told that its call was lost.
const MAX_WAITING: usize = 4096;

/// How many bytes of events may wait to be written.
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// How many events are written at once.
const MAX_GROUP: usize = 256;

/// How many times writing events is tried, and the pause after the first attempt, which doubles.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// How long the shutdown of the replica waits for events to be written.
const FLUSH_WITHIN: Duration = Duration::from_secs(2);

/// An event that is to be written to the log.
pub(super) struct EventToWrite {
    pub(super) stream: Arc<str>,
    pub(super) event: LoggedEvent,
    /// The number of the first event of the stream that is kept.
    pub(super) from: u64,
    pub(super) keep: Duration,
}

enum WriterInput {
    Event(EventToWrite),
    Flush(oneshot::Sender<()>),
}

/// The queue of events, and the task that writes them.
pub(super) struct EventWriter {
    queue: mpsc::Sender<WriterInput>,
    waiting_bytes: Arc<AtomicUsize>,
    writing: JoinHandle<()>,
}

impl EventWriter {
    /// Starts the task. Must be called inside a runtime.
    pub(super) fn start(log: Arc<dyn EventLog>) -> Self {
        let (queue, waiting) = mpsc::channel(MAX_WAITING);
        let waiting_bytes = Arc::new(AtomicUsize::new(0));
        Self {
            queue,
            waiting_bytes: Arc::clone(&waiting_bytes),
            writing: tokio::spawn(write_all(log, waiting, waiting_bytes)),
        }
    }

    /// Queues an event to be written, unless too many wait already. It does not wait.
    pub(super) fn write(&self, event: EventToWrite) {
        let bytes = event.event.bytes.len();
        let before = self.waiting_bytes.fetch_add(bytes, Ordering::Relaxed);
        let has_room = before + bytes <= MAX_WAITING_BYTES;
        if !has_room || self.queue.try_send(WriterInput::Event(event)).is_err() {
            self.waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
            tracing::warn!(
                "too many events wait to be written: other replicas cannot resume a stream"
            );
        }
    }

    /// Waits until all queued events are written, but only for a limited time.
    pub(super) async fn flush(&self) {
        let (done, written) = oneshot::channel();
        let flushed = async {
            if self.queue.send(WriterInput::Flush(done)).await.is_ok() {
                let _ = written.await;
            }
        };
        if timeout(FLUSH_WITHIN, flushed).await.is_err() {
            tracing::error!("events of streams could not be written before the shutdown");
        }
    }
}

impl Drop for EventWriter {
    fn drop(&mut self) {
        self.writing.abort();
    }
}

async fn write_all(
    log: Arc<dyn EventLog>,
    mut waiting: mpsc::Receiver<WriterInput>,
    waiting_bytes: Arc<AtomicUsize>,
) {
    let mut group = Vec::with_capacity(MAX_GROUP);
    while waiting.recv_many(&mut group, MAX_GROUP).await > 0 {
        let (mut streams, mut flushed) = (HashMap::<Arc<str>, StreamGroup>::new(), Vec::new());
        let mut bytes = 0;
        for input in group.drain(..) {
            match input {
                WriterInput::Flush(done) => flushed.push(done),
                WriterInput::Event(event) => {
                    bytes += event.event.bytes.len();
                    let of_stream = streams.entry(event.stream).or_default();
                    of_stream.from = event.from;
                    of_stream.keep = event.keep;
                    of_stream.events.push(event.event);
                }
            }
        }
        for (stream, of_stream) in streams {
            write(&*log, &stream, of_stream).await;
        }
        waiting_bytes.fetch_sub(bytes, Ordering::Relaxed);
        for done in flushed {
            // The future that waits may have been dropped.
            let _ = done.send(());
        }
    }
}

/// Events of one stream, which are written at once.
#[derive(Default)]
struct StreamGroup {
    events: Vec<LoggedEvent>,
    from: u64,
    keep: Duration,
}

async fn write(log: &dyn EventLog, stream: &str, group: StreamGroup) {
    let mut pause = FIRST_PAUSE;
    for attempt in 1..=ATTEMPTS {
        let appended = log.append(stream, group.events.clone(), group.from, group.keep);
        match appended.await {
            Ok(()) => return,
            Err(error) if attempt == ATTEMPTS => {
                tracing::error!(%error, "events of a stream cannot be written");
            }
            Err(_) => sleep(pause).await,
        }
        pause *= 2;
    }
}
