//! One session of 2025-03-26 to 2025-11-25: its handshake, calls and streams.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::Revision;
use turnbuckle_transport::{Limits, Outbox};

use super::{
    at_replica::AtReplica,
    event_id::{Carries, StreamName},
    event_stream::EventStream,
    payer::Payer,
    settings::HttpSettings,
    turn::Source,
};
use crate::{
    Caller,
    client::{CancelFlag, Peer, Session},
    edge::running::RunningRequests,
    quota::CallerKey,
};

/// How many bytes may be queued for a session whose client does not listen. This is enough for
/// about a hundred notifications, and keeps a session without a reader small.
const STANDING_BYTES: usize = 16 * 1024;

/// One session.
pub(super) struct HttpSession {
    pub(super) id: Box<str>,
    /// The state that replicas share, if there are replicas.
    pub(super) at: Option<AtReplica>,
    /// The client, as the session as a whole sees it: messages to it are sent on the standing
    /// streams.
    pub(super) peer: Arc<Peer>,
    lifecycle: Arc<Session>,
    payer: Payer,
    pub(super) running: RunningRequests,
    /// Messages that belong to no call. They are sent on the standing stream that is open.
    pub(super) standing: Arc<Source>,
    /// Streams that are open or can be resumed, in the order in which they were opened.
    streams: Mutex<Vec<Arc<EventStream>>>,
    next_stream: AtomicU64,
    opened: Instant,
    /// The time of the client's last message, in milliseconds after `opened`.
    seen: AtomicU64,
}

/// How long a client may be silent before its session ends.
pub(super) struct IdleLimits {
    pub(super) session: Duration,
    /// The time while a call runs.
    pub(super) with_call: Duration,
}

impl IdleLimits {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        Self {
            session: settings.session_idle,
            // A client that waits for an answer reads no stream before the keep-alive time has
            // passed.
            with_call: settings
                .session_idle
                .max(settings.keep_alive.saturating_mul(2)),
        }
    }
}

impl HttpSession {
    pub(super) fn new(
        id: Box<str>,
        at: Option<AtReplica>,
        caller: Caller,
        lifecycle: Arc<Session>,
        limits: Limits,
        closing: CancelFlag,
        payer: Payer,
    ) -> Self {
        let _ = lifecycle.id.set(id.clone());
        if let Some(at) = &at {
            let _ = lifecycle.on_visit.set(at.on_visit(&id, caller.id()));
        }
        let standing = Outbox::new(limits.with_outbox_high_water_bytes(STANDING_BYTES));
        let session = Some(Arc::clone(&lifecycle));
        let peer = Peer::new(caller, standing.clone(), session, closing).counted(payer.counted);
        let peer = if primes(peer.session_revision()) {
            peer.detachable()
        } else {
            peer
        };
        Self {
            id,
            at,
            peer: Arc::new(peer),
            lifecycle,
            payer,
            running: RunningRequests::new(None),
            standing: Arc::new(Source::new(standing)),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(0),
            opened: Instant::now(),
            seen: AtomicU64::new(0),
        }
    }

    /// The caller against whose quotas the session counts.
    pub(super) fn payer_key(&self) -> CallerKey {
        self.payer.key
    }

    /// Whether streams begin with an event whose id allows to resume them, so that they may be
    /// closed early.
    pub(super) fn primes(&self) -> bool {
        primes(self.peer.session_revision())
    }

    /// The client, for one exchange. The caller is the one who opened the session, but its
    /// permissions may have changed with another token.
    pub(super) fn peer_of(&self, caller: Caller, outbox: Outbox) -> Arc<Peer> {
        Arc::new(self.peer.for_exchange(caller, outbox))
    }

    /// Opens a resumable stream of the messages from a source.
    pub(super) fn open_stream(
        &self,
        source: Arc<Source>,
        carries: &Carries,
        settings: &HttpSettings,
    ) -> Arc<EventStream> {
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let name = match &self.at {
            Some(at) => StreamName::at(at.place, number, carries),
            None => StreamName::Local(number),
        };
        // Messages to the session as a whole are not stored: a new stream begins with notifications
        // of everything that may have changed.
        let log = match (&self.at, carries) {
            (Some(at), Carries::Call(_)) => at.stream_log(number),
            _ => None,
        };
        let stream = EventStream::new(number, name, source, self.payer.share(), log);
        let stream = Arc::new(stream);
        let mut streams = self.streams();
        self.forget(&mut streams, settings);
        streams.push(Arc::clone(&stream));
        stream
    }

    /// How many streams are open.
    pub(super) fn open_streams(&self) -> usize {
        let streams = self.streams();
        streams.iter().filter(|stream| stream.is_read()).count()
    }

    /// Whether the client has a stream open for messages that belong to no call.
    pub(super) fn is_listening(&self) -> bool {
        let streams = self.streams();
        let mut standing = streams.iter().filter(|stream| self.is_standing(stream));
        standing.any(|stream| stream.is_read())
    }

    /// Returns the stream with this number, if it can still be resumed.
    pub(super) fn stream(&self, number: u64, settings: &HttpSettings) -> Option<Arc<EventStream>> {
        let mut streams = self.streams();
        self.forget(&mut streams, settings);
        let found = streams.iter().find(|stream| stream.number == number);
        found.cloned()
    }

    /// Forgets streams whose client has not come back, and the oldest streams if there are too
    /// many.
    fn forget(&self, streams: &mut Vec<Arc<EventStream>>, settings: &HttpSettings) {
        let (mut count, mut bytes) = (0, 0);
        // From the newest to the oldest.
        streams.reverse();
        streams.retain(|stream| {
            if stream.is_read() || self.is_running(stream) {
                return true;
            }
            if stream.left_for() > settings.replay_age {
                return false;
            }
            count += 1;
            bytes += self.kept_bytes(stream);
            count <= settings.replay_streams && (bytes <= settings.replay_bytes || count == 1)
        });
        streams.reverse();
    }

    fn is_standing(&self, stream: &EventStream) -> bool {
        Arc::ptr_eq(&stream.source, &self.standing)
    }

    /// Whether more messages may be sent on a stream, even if it has no reader.
    fn is_running(&self, stream: &EventStream) -> bool {
        !self.is_standing(stream) && !stream.source.outbox.is_closed()
    }

    fn kept_bytes(&self, stream: &EventStream) -> usize {
        let waiting = if self.is_standing(stream) {
            0
        } else {
            stream.source.outbox.pending_bytes()
        };
        stream.kept_bytes() + waiting
    }

    /// Notes a message from the client.
    pub(super) fn touch(&self) {
        self.touch_at(Instant::now());
    }

    /// Notes a message from the client at this time.
    pub(super) fn touch_at(&self, now: Instant) {
        let since = now.saturating_duration_since(self.opened).as_millis();
        let since = u64::try_from(since).unwrap_or(u64::MAX);
        self.seen.store(since.max(1), Ordering::Relaxed);
    }

    /// The time since the client's last message.
    fn unheard_for(&self, now: Instant) -> Duration {
        let seen = Duration::from_millis(self.seen.load(Ordering::Relaxed));
        let since = now.saturating_duration_since(self.opened);
        since.saturating_sub(seen)
    }

    /// How long the client has been silent. It is not silent while it has a stream open or waits
    /// for an answer, so such a session is not ended to make room for another.
    pub(super) fn idle_for(&self, now: Instant) -> Duration {
        if self.open_streams() > 0 || !self.running.is_idle() {
            return Duration::ZERO;
        }
        self.unheard_for(now)
    }

    /// Whether the client has been silent for longer than this, and reads no stream.
    ///
    /// Running calls are no reason to keep the session: a client that waits for an answer reads a
    /// stream, once the call has been quiet for a while. Otherwise a call that never ends would
    /// keep the session of a client that has disappeared.
    pub(super) fn is_left_for(&self, limits: &IdleLimits, now: Instant) -> bool {
        let limit = if self.running.is_idle() {
            limits.session
        } else {
            limits.with_call
        };
        // Most clients sent a message recently, so the streams are counted only for the others.
        self.unheard_for(now) > limit && self.open_streams() == 0
    }

    /// The client's subscriptions and handshake.
    pub(super) fn lifecycle(&self) -> &Arc<Session> {
        &self.lifecycle
    }

    /// Whether the client has sent `notifications/initialized`, or has used the session: some
    /// clients never send it.
    pub(super) fn is_initialized(&self) -> bool {
        self.lifecycle.is_ready() || self.seen.load(Ordering::Relaxed) > 0
    }

    /// Ends the session and everything that belongs to it.
    pub(super) fn close(&self) {
        self.running.cancel_all();
        self.lifecycle.listener().end();
        self.standing.outbox.close();
        for stream in self.streams().iter() {
            stream.source.outbox.close();
        }
    }

    /// Begins to shut down: the standing streams end, and running calls finish.
    pub(super) fn begin_shutdown(&self) {
        self.standing.outbox.close();
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Arc<EventStream>>> {
        self.streams.lock()
    }
}

/// transports: since 2025-11-25; clients of older revisions fail on an event without data.
fn primes(revision: Option<Revision>) -> bool {
    revision.is_some_and(|revision| revision.rules().priming_events)
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.close();
    }
}
