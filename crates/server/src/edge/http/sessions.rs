//! The table of sessions.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{session::HttpSession, settings::HttpSettings, sse_session::SseSession};
use crate::Caller;
use turnbuckle_base::lock::{Mutex, MutexGuard};

/// Bits of an id: enough that guessing one is hopeless for as long as the sun shines.
const ID_BYTES: usize = 20;

/// The least time between two looks for idle sessions when there are too many: a flood of clients
/// that are turned away must not cost a look each.
const CROWDED_PAUSE: Duration = Duration::from_millis(100);

/// All sessions. An idle one costs its entry and nothing else: no task, no timer.
pub(super) struct Sessions {
    table: Mutex<SessionTable>,
    max: usize,
    idle: Duration,
}

#[derive(Default)]
struct SessionTable {
    streamable: HashMap<Box<str>, Arc<HttpSession>>,
    sse: HashMap<Box<str>, Arc<SseSession>>,
    swept: Option<Instant>,
    is_closed: bool,
}

/// There is no room for another session.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoSession {
    #[error("{0} sessions are open, and that is all: try again later, or raise `max_sessions`")]
    TooMany(usize),
    #[error("the server is shutting down")]
    Closing,
    #[error("there is no randomness to make a session id of: {0}")]
    NoRandomness(getrandom::Error),
}

impl Sessions {
    pub(super) fn new(settings: &HttpSettings) -> Self {
        Self {
            table: Mutex::default(),
            max: settings.max_sessions,
            idle: settings.session_idle,
        }
    }

    /// The session with this id, if it is the caller's.
    pub(super) fn find(&self, id: &str, caller: &Caller) -> Option<Arc<HttpSession>> {
        let mut table = self.table();
        self.sweep_if_due(&mut table);
        let session = Arc::clone(table.streamable.get(id)?);
        drop(table);
        // A session is bound to who opened it: an id alone opens nothing.
        if session.peer.caller().id() != caller.id() {
            return None;
        }
        if session.idle_for() > self.idle {
            self.end(&session);
            return None;
        }
        session.touch();
        Some(session)
    }

    /// Opens a session; `make` is given its id.
    pub(super) fn open(
        &self,
        make: impl FnOnce(Box<str>) -> HttpSession,
    ) -> Result<Arc<HttpSession>, NoSession> {
        self.insert(make, |table| &mut table.streamable)
    }

    /// Opens a session of HTTP+SSE, which lasts as long as its stream.
    pub(super) fn open_sse(
        &self,
        make: impl FnOnce(Box<str>) -> SseSession,
    ) -> Result<Arc<SseSession>, NoSession> {
        self.insert(make, |table| &mut table.sse)
    }

    fn insert<S>(
        &self,
        make: impl FnOnce(Box<str>) -> S,
        sessions: fn(&mut SessionTable) -> &mut HashMap<Box<str>, Arc<S>>,
    ) -> Result<Arc<S>, NoSession> {
        let id = new_id()?;
        let mut table = self.table();
        self.admit(&mut table)?;
        let session = Arc::new(make(id.clone()));
        sessions(&mut table).insert(id, Arc::clone(&session));
        Ok(session)
    }

    pub(super) fn find_sse(&self, id: &str, caller: &Caller) -> Option<Arc<SseSession>> {
        let session = Arc::clone(self.table().sse.get(id)?);
        (session.caller.id() == caller.id()).then_some(session)
    }

    pub(super) fn end_sse(&self, id: &str) {
        self.table().sse.remove(id);
    }

    /// Ends a session: what runs in it is cancelled, its streams close.
    pub(super) fn end(&self, session: &HttpSession) {
        self.table().streamable.remove(&*session.id);
        session.close();
    }

    /// Opens no more sessions, and ends what would stay open for ever. What runs is finished.
    pub(super) fn wind_up(&self) {
        let mut table = self.table();
        table.is_closed = true;
        let streamable: Vec<_> = table.streamable.values().cloned().collect();
        let sse: Vec<_> = table.sse.values().cloned().collect();
        drop(table);
        for session in streamable {
            session.wind_up();
        }
        for session in sse {
            session.wind_up();
        }
    }

    fn admit(&self, table: &mut SessionTable) -> Result<(), NoSession> {
        if table.is_closed {
            return Err(NoSession::Closing);
        }
        self.sweep_if_due(table);
        let is_recent = |swept: Instant| swept.elapsed() < CROWDED_PAUSE;
        if table.len() >= self.max && !table.swept.is_some_and(is_recent) {
            self.sweep(table);
        }
        if table.len() >= self.max {
            return Err(NoSession::TooMany(self.max));
        }
        Ok(())
    }

    /// Ends what has been idle for too long, now and again, when a session is opened or used:
    /// nothing has to run for it.
    fn sweep_if_due(&self, table: &mut SessionTable) {
        let pause = self.idle / 16;
        if table.swept.is_none_or(|swept| swept.elapsed() >= pause) {
            self.sweep(table);
        }
    }

    fn sweep(&self, table: &mut SessionTable) {
        table.swept = Some(Instant::now());
        table.streamable.retain(|_, session| {
            let is_alive = session.idle_for() <= self.idle;
            if !is_alive {
                session.close();
            }
            is_alive
        });
    }

    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock()
    }
}

impl SessionTable {
    fn len(&self) -> usize {
        self.streamable.len() + self.sse.len()
    }
}

/// An id that nobody can guess, in visible ASCII.
fn new_id() -> Result<Box<str>, NoSession> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(NoSession::NoRandomness)?;
    let mut id = String::with_capacity(2 * ID_BYTES);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id.into())
}
