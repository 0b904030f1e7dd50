//! One connection: bytes in two directions, in order within each direction, late and perhaps lost.

use std::{
    collections::VecDeque,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep_until},
};
use turnbuckle_base::lock::Mutex;

use super::{
    Random,
    faults::{Fate, Fault, GIVEN_UP_AFTER},
    trace::Trace,
};

/// The buffer of each direction, 64 KiB, as in real systems: a writer waits for its reader.
const WINDOW_BYTES: usize = 64 * 1024;

/// How often, out of a thousand times, an end that is ready has to wait for another turn. It changes the order in which
/// tasks run.
const OUT_OF_TURN: u16 = 120;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WireState {
    Open,
    /// Nothing arrives any more, and the ends do not know it until the system gives up the connection.
    Silent(Instant),
    /// Both ends get an error.
    Broken(io::ErrorKind),
}

/// Bytes that were written together.
struct Chunk {
    arrives: Instant,
    bytes: Vec<u8>,
    /// How many of the bytes were read.
    read: usize,
}

/// One direction.
struct Lane {
    /// The bytes on their way, each chunk with its time of arrival.
    chunks: VecDeque<Chunk>,
    bytes: usize,
    sent: u64,
    is_ended: bool,
    is_reader_gone: bool,
    fate: Fate,
    /// When a slow reader reads again.
    rests_until: Option<Instant>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Lane {
    fn new(fate: Fate) -> Self {
        Self {
            chunks: VecDeque::new(),
            bytes: 0,
            sent: 0,
            is_ended: false,
            is_reader_gone: false,
            fate,
            rests_until: None,
            reader: None,
            writer: None,
        }
    }

    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()] {
            waker.inspect(Waker::wake_by_ref);
        }
    }
}

struct Wire {
    name: String,
    state: WireState,
    lanes: [Lane; 2],
    random: Random,
    trace: Trace,
}

impl Wire {
    fn set_state(&mut self, state: WireState, what: &str) {
        if matches!(self.state, WireState::Broken(_)) {
            return;
        }
        self.trace.note(format_args!("{} {what}", self.name));
        self.state = state;
        for lane in &mut self.lanes {
            lane.wake();
        }
    }

    /// The error that both ends see, if the connection has failed.
    fn error(&mut self) -> Option<io::Error> {
        if let WireState::Silent(until) = self.state
            && Instant::now() >= until
        {
            self.set_state(WireState::Broken(io::ErrorKind::TimedOut), "given up");
        }
        match self.state {
            WireState::Broken(kind) => Some(kind.into()),
            WireState::Open | WireState::Silent(_) => None,
        }
    }
}

/// A handle that can break a connection.
#[derive(Clone)]
pub(super) struct Breaker(Arc<Mutex<Wire>>);

impl Breaker {
    /// Breaks the connection: both ends get an error, and bytes on their way are lost.
    pub(super) fn cut(&self) {
        let state = WireState::Broken(io::ErrorKind::ConnectionReset);
        self.0.lock().set_state(state, "cut");
    }

    /// Removes the faults that have not happened yet.
    pub(super) fn calm(&self) {
        let mut wire = self.0.lock();
        for lane in &mut wire.lanes {
            lane.fate.fault = None;
            lane.fate.slow = None;
            lane.rests_until = None;
            lane.wake();
        }
        if let WireState::Silent(_) = wire.state {
            wire.set_state(WireState::Broken(io::ErrorKind::TimedOut), "given up");
        }
    }

    pub(super) fn is_open(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

/// One end of a simulated connection.
pub struct End {
    wire: Arc<Mutex<Wire>>,
    /// The lane that this end reads from; it writes to the other.
    reads: usize,
    timer: Option<Pin<Box<Sleep>>>,
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("End").finish_non_exhaustive()
    }
}

/// Creates two connected ends, with a name for the trace.
pub(super) fn connection(
    name: String,
    fates: [Fate; 2],
    random: Random,
    trace: Trace,
) -> (End, End, Breaker) {
    let wire = Arc::new(Mutex::new(Wire {
        name,
        state: WireState::Open,
        lanes: fates.map(Lane::new),
        random,
        trace,
    }));
    let end = |reads| End {
        wire: Arc::clone(&wire),
        reads,
        timer: None,
    };
    (end(0), end(1), Breaker(Arc::clone(&wire)))
}

impl End {
    /// Waits until a time at which the task is woken.
    fn poll_until(&mut self, cx: &mut Context<'_>, at: Instant) {
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(at)));
        timer.as_mut().reset(at);
        if timer.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}

impl AsyncRead for End {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let end = self.get_mut();
        let shared = Arc::clone(&end.wire);
        let mut wire = shared.lock();
        let wire = &mut *wire;
        if let Some(error) = wire.error() {
            return Poll::Ready(Err(error));
        }
        let now = Instant::now();
        let lane = &mut wire.lanes[end.reads];
        lane.reader = Some(cx.waker().clone());
        if let WireState::Silent(until) = wire.state {
            end.poll_until(cx, until);
            return Poll::Pending;
        }
        let arrives = lane.chunks.front().map(|chunk| chunk.arrives);
        let Some(arrives) = arrives else {
            return if lane.is_ended {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            };
        };
        let readable = arrives.max(lane.rests_until.unwrap_or(arrives));
        if readable > now {
            end.poll_until(cx, readable);
            return Poll::Pending;
        }
        if wire.random.chance(OUT_OF_TURN) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut most = buffer.remaining();
        if let Some((bytes, pause)) = lane.fate.slow {
            most = most.min(usize::try_from(bytes).unwrap_or(usize::MAX));
            lane.rests_until = Some(now + pause);
        }
        let chunk = lane.chunks.front_mut().expect("its time was just read");
        let count = most.min(chunk.bytes.len() - chunk.read);
        buffer.put_slice(&chunk.bytes[chunk.read..chunk.read + count]);
        chunk.read += count;
        if chunk.read == chunk.bytes.len() {
            lane.chunks.pop_front();
        }
        lane.bytes -= count;
        if let Some(writer) = lane.writer.take() {
            writer.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let end = self.get_mut();
        let shared = Arc::clone(&end.wire);
        let mut wire = shared.lock();
        let wire = &mut *wire;
        if let Some(error) = wire.error() {
            return Poll::Ready(Err(error));
        }
        let way = 1 - end.reads;
        let lane = &mut wire.lanes[way];
        if lane.is_reader_gone || lane.is_ended {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        lane.writer = Some(cx.waker().clone());
        let room = WINDOW_BYTES.saturating_sub(lane.bytes);
        if room == 0 {
            if let WireState::Silent(until) = wire.state {
                end.poll_until(cx, until);
            }
            return Poll::Pending;
        }
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if wire.random.chance(OUT_OF_TURN) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let mut count = room.min(bytes.len());
        if wire.random.chance(OUT_OF_TURN) {
            count = 1 + usize::try_from(wire.random.below(count as u64)).unwrap_or(0);
        }
        let mut fault = None;
        if let Some((at, what)) = lane.fate.fault {
            let left = usize::try_from(at.saturating_sub(lane.sent)).unwrap_or(usize::MAX);
            if left <= count {
                lane.fate.fault = None;
                fault = Some(what);
                count = left.max(1).min(count);
            }
        }
        lane.sent += count as u64;
        lane.bytes += count;
        // As with TCP: late, and never before bytes that were sent earlier.
        let mut arrives = Instant::now() + wire.random.time(lane.fate.delay);
        if let Some(last) = lane.chunks.back() {
            arrives = arrives.max(last.arrives);
        }
        lane.chunks.push_back(Chunk {
            arrives,
            bytes: bytes[..count].to_vec(),
            read: 0,
        });
        if let Some(reader) = lane.reader.take() {
            reader.wake();
        }
        let arrow = if way == 0 { '<' } else { '>' };
        wire.trace
            .note(format_args!("{} {arrow} {count}", wire.name));
        match fault {
            None => {}
            Some(Fault::Cut) => {
                let state = WireState::Broken(io::ErrorKind::ConnectionReset);
                wire.set_state(state, "cut");
            }
            Some(Fault::Silence) => {
                let until = Instant::now() + GIVEN_UP_AFTER;
                wire.set_state(WireState::Silent(until), "silent");
            }
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut wire = self.wire.lock();
        let lane = &mut wire.lanes[1 - self.reads];
        lane.is_ended = true;
        lane.wake();
        Poll::Ready(Ok(()))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let mut wire = self.wire.lock();
        let reads = self.reads;
        wire.lanes[1 - reads].is_ended = true;
        wire.lanes[reads].is_reader_gone = true;
        for lane in &mut wire.lanes {
            lane.wake();
        }
        let name = wire.name.clone();
        wire.trace.note(format_args!("{name} end {reads} closed"));
    }
}
