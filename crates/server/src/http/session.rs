//! One session of 2025-03-26 to 2025-11-25: its handshake, what runs in it, its streams.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use turnbuckle_protocol::Revision;
use turnbuckle_transport::{Limits, Outbox};

use super::{event_stream::EventStream, settings::HttpSettings};
use crate::{
    Caller,
    peer::{Listener, Peer, Session, Wants},
    running::Running,
    shared::Shared,
};

/// Bytes that may wait on the standing stream of a session whose client does not listen. Enough
/// for some hundred notices; a session that nobody reads must stay small.
const STANDING_BYTES: usize = 16 * 1024;

/// The number of the standing stream.
pub(super) const STANDING: u64 = 0;

/// One session.
pub(super) struct HttpSession {
    pub(super) id: Box<str>,
    pub(super) caller: Caller,
    pub(super) lifecycle: Arc<Session>,
    pub(super) running: Running,
    pub(super) standing: Arc<EventStream>,
    streams: Mutex<HashMap<u64, Arc<EventStream>>>,
    next_stream: AtomicU64,
    listener: Mutex<Option<Arc<Listener>>>,
    opened: Instant,
    /// When the client was last heard of, in milliseconds after `opened`.
    seen: AtomicU64,
}

impl HttpSession {
    pub(super) fn new(
        id: Box<str>,
        caller: Caller,
        lifecycle: Arc<Session>,
        settings: &HttpSettings,
        limits: Limits,
    ) -> Self {
        let standing = Outbox::new(limits.with_outbox_high_water_bytes(STANDING_BYTES));
        Self {
            id,
            caller,
            lifecycle,
            running: Running::new(None),
            standing: Arc::new(EventStream::new(STANDING, standing, settings)),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(STANDING + 1),
            listener: Mutex::default(),
            opened: Instant::now(),
            seen: AtomicU64::new(0),
        }
    }

    /// The revision that the handshake settled.
    pub(super) fn revision(&self) -> Revision {
        let lifecycle = self
            .lifecycle
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        lifecycle.revision().unwrap_or(Revision::V2025_03_26)
    }

    /// The other end, for one exchange.
    pub(super) fn peer(&self, outbox: Outbox) -> Arc<Peer> {
        Arc::new(Peer::new(
            self.caller.clone(),
            outbox,
            Some(Arc::clone(&self.lifecycle)),
        ))
    }

    /// The client is ready: from now on it is told of changes, on its standing stream.
    pub(super) fn initialized(&self, shared: &Shared) {
        self.lifecycle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .initialized();
        let mut listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner);
        if listener.is_none() {
            let peer = self.peer(self.standing.outbox().clone());
            let new = Arc::new(Listener::new(peer, Wants::Session));
            shared.listen(&new);
            *listener = Some(new);
        }
    }

    /// Makes what an exchange sends a stream of its own, which can be resumed.
    pub(super) fn open_stream(&self, outbox: Outbox, settings: &HttpSettings) -> Arc<EventStream> {
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let stream = Arc::new(EventStream::new(number, outbox, settings));
        let mut streams = self.streams();
        streams.retain(|_, stream| !stream.is_forgettable());
        streams.insert(number, Arc::clone(&stream));
        stream
    }

    /// How many streams are open now.
    pub(super) fn open_streams(&self) -> usize {
        let streams = self.streams();
        streams.values().filter(|stream| stream.is_read()).count()
            + usize::from(self.standing.is_read())
    }

    /// The stream with this number, if it can still be resumed.
    pub(super) fn stream(&self, number: u64) -> Option<Arc<EventStream>> {
        if number == STANDING {
            return Some(Arc::clone(&self.standing));
        }
        self.streams().get(&number).cloned()
    }

    pub(super) fn touch(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.seen.store(now, Ordering::Relaxed);
    }

    /// How long the client has been silent. One that holds a stream open is not.
    pub(super) fn idle_for(&self) -> Duration {
        if self.open_streams() > 0 {
            return Duration::ZERO;
        }
        self.opened
            .elapsed()
            .saturating_sub(Duration::from_millis(self.seen.load(Ordering::Relaxed)))
    }

    /// Ends everything that belongs to the session.
    pub(super) fn close(&self) {
        self.running.cancel_all();
        self.listener
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.standing.outbox().close();
        for stream in self.streams().values() {
            stream.outbox().close();
        }
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<u64, Arc<EventStream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.close();
    }
}
