//! The state of a session that exists only if the server has replicas.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex as AsyncMutex, MutexGuard as AsyncMutexGuard},
    time::Instant,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_store::bus::Recipient;

use crate::{
    client::OnVisit,
    replica::{Message, Place, Replicas, StreamLog},
};

/// How long to wait before a store that could not be read is tried again. Without it, every call of
/// the session would wait for the store.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// The state of a session on one replica.
pub(super) struct AtReplica {
    /// The ids of requests and events begin with this place.
    pub(super) place: Place,
    /// The key of the session in stores.
    pub(super) key: Box<str>,
    replicas: Arc<Replicas>,
    /// When the id of the session expires.
    ends: Instant,
    changes: Mutex<ChangeCount>,
    /// Held while changes are read or written, and until they are applied here, so that they are
    /// applied in the order in which they were read.
    turn: AsyncMutex<()>,
    /// Whether the session was opened on this replica.
    is_home: bool,
    /// Whether the client may have missed changes from the time before this replica knew the
    /// session.
    has_gap: AtomicBool,
}

/// Counts the changes that other replicas made, and those that are applied here.
struct ChangeCount {
    made: u64,
    known: u64,
    /// Set if the store could not be read; it is not tried again before this time.
    again_at: Option<Instant>,
    /// Whether a task is trying to read the store.
    is_catching_up: bool,
}

impl AtReplica {
    /// A session that is opened on this replica.
    pub(super) fn new(replicas: &Arc<Replicas>, place: Place, key: String, left: Duration) -> Self {
        Self {
            place,
            key: key.into(),
            replicas: Arc::clone(replicas),
            ends: Instant::now() + left,
            changes: Mutex::new(ChangeCount {
                made: 0,
                known: 0,
                again_at: None,
                is_catching_up: false,
            }),
            turn: AsyncMutex::new(()),
            is_home: true,
            has_gap: AtomicBool::new(false),
        }
    }

    /// A session that was opened elsewhere, or was forgotten here. The changes that its client made
    /// are not known yet.
    pub(super) fn reopened(
        replicas: &Arc<Replicas>,
        place: Place,
        key: String,
        left: Duration,
    ) -> Self {
        let at = Self {
            is_home: false,
            ..Self::new(replicas, place, key, left)
        };
        at.changed();
        at.has_gap.store(true, Ordering::Relaxed);
        at
    }

    /// Whether the session was opened on this replica.
    pub(super) fn is_home(&self) -> bool {
        self.is_home
    }

    /// Tells other replicas about elicitations by URL, because the client may read its stream from
    /// one of them.
    pub(super) fn on_visit(&self, session: &str, caller: Option<&str>) -> OnVisit {
        let replicas = Arc::clone(&self.replicas);
        let (session, caller) = (session.to_owned(), caller.map(str::to_owned));
        Box::new(move |visit| {
            let message = Message::Visit {
                session: session.clone(),
                caller: caller.clone(),
                visit: visit.to_owned(),
            };
            replicas.tell(Recipient::All, message);
        })
    }

    /// The log for the events of a stream, if streams can be resumed after their replica has ended.
    pub(super) fn stream_log(&self, stream: u64) -> Option<StreamLog> {
        self.replicas.stream_log(self.place, stream, &self.key)
    }

    /// Whether the session has expired.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.ends
    }

    /// How long until the session expires.
    pub(super) fn left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    /// Notes that another replica changed something in the session.
    pub(super) fn changed(&self) {
        let mut changes = self.changes.lock();
        changes.made += 1;
        changes.again_at = None;
    }

    /// Waits for exclusive access to the shared state of the session.
    pub(super) async fn turn(&self) -> AsyncMutexGuard<'_, ()> {
        self.turn.lock().await
    }

    /// Whether there are changes that could not be read, and no task tries to read them yet. Then
    /// the caller must start one.
    pub(super) fn begin_catching_up(&self) -> bool {
        let mut changes = self.changes.lock();
        let is_behind = changes.known < changes.made;
        is_behind && !std::mem::replace(&mut changes.is_catching_up, true)
    }

    /// How long that task waits before its next try. `None` if it ends, because all changes are
    /// applied or no tries are left.
    pub(super) fn next_try(&self, left: usize) -> Option<Duration> {
        let mut changes = self.changes.lock();
        changes.is_catching_up = changes.known < changes.made && left > 0;
        let again_at = changes.again_at.unwrap_or_else(Instant::now);
        changes
            .is_catching_up
            .then(|| again_at.saturating_duration_since(Instant::now()))
    }

    /// The number of changes that have been made, if some of them have to be read and it is time to
    /// try.
    pub(super) fn unread(&self) -> Option<u64> {
        let changes = self.changes.lock();
        let is_time = changes.again_at.is_none_or(|at| at <= Instant::now());
        (changes.known < changes.made && is_time).then_some(changes.made)
    }

    /// Notes that this many changes were read.
    pub(super) fn has_read(&self, made: u64) {
        let mut changes = self.changes.lock();
        changes.known = changes.known.max(made);
    }

    /// Notes that the changes could not be read.
    pub(super) fn could_not_read(&self) {
        self.changes.lock().again_at = Some(Instant::now() + AGAIN_AFTER);
    }

    /// Whether changes may have been missed. Returns `true` only once.
    pub(super) fn take_gap(&self) -> bool {
        self.has_gap.swap(false, Ordering::Relaxed)
    }
}
