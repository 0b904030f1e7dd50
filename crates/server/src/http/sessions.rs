//! The table of sessions.

use std::{
    collections::HashMap,
    fmt::Write as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{http_sse::SseSession, session::HttpSession, settings::HttpSettings};
use crate::Caller;

/// Bits of an id: enough that guessing one is hopeless for as long as the sun shines.
const ID_BYTES: usize = 20;

/// All sessions. An idle one costs its entry and nothing else: no task, no timer.
pub(super) struct Sessions {
    table: Mutex<Table>,
    max: usize,
    idle: Duration,
}

#[derive(Default)]
struct Table {
    streamable: HashMap<Box<str>, Arc<HttpSession>>,
    sse: HashMap<Box<str>, Arc<SseSession>>,
    swept: Option<Instant>,
    is_closed: bool,
}

/// There is no room for another session.
#[derive(Debug, thiserror::Error)]
pub(super) enum Full {
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
        let session = Arc::clone(self.table().streamable.get(id)?);
        // A session is bound to who opened it: an id alone opens nothing.
        if session.caller.id() != caller.id() {
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
    ) -> Result<Arc<HttpSession>, Full> {
        let id = new_id()?;
        let mut table = self.table();
        self.admit(&mut table)?;
        let session = Arc::new(make(id.clone()));
        table.streamable.insert(id, Arc::clone(&session));
        Ok(session)
    }

    /// Opens a session of HTTP+SSE, which lasts as long as its stream.
    pub(super) fn open_sse(
        &self,
        make: impl FnOnce(Box<str>) -> SseSession,
    ) -> Result<Arc<SseSession>, Full> {
        let id = new_id()?;
        let mut table = self.table();
        self.admit(&mut table)?;
        let session = Arc::new(make(id.clone()));
        table.sse.insert(id, Arc::clone(&session));
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

    /// Ends every session, and opens no more.
    pub(super) fn close(&self) {
        let mut table = self.table();
        table.is_closed = true;
        let streamable = std::mem::take(&mut table.streamable);
        let sse = std::mem::take(&mut table.sse);
        drop(table);
        for session in streamable.values() {
            session.close();
        }
        for session in sse.values() {
            session.close();
        }
    }

    fn admit(&self, table: &mut Table) -> Result<(), Full> {
        if table.is_closed {
            return Err(Full::Closing);
        }
        self.sweep(table);
        if table.streamable.len() + table.sse.len() >= self.max {
            return Err(Full::TooMany(self.max));
        }
        Ok(())
    }

    /// Ends what has been idle for too long. Done when a session is opened, and then only now and
    /// again: nothing has to run for it.
    fn sweep(&self, table: &mut Table) {
        let now = Instant::now();
        let pause = self.idle / 16;
        let is_due = table.swept.is_none_or(|swept| now - swept >= pause);
        if !is_due && table.streamable.len() + table.sse.len() < self.max {
            return;
        }
        table.swept = Some(now);
        table.streamable.retain(|_, session| {
            let is_alive = session.idle_for() <= self.idle;
            if !is_alive {
                session.close();
            }
            is_alive
        });
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An id that nobody can guess, in visible ASCII.
fn new_id() -> Result<Box<str>, Full> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(Full::NoRandomness)?;
    let mut id = String::with_capacity(2 * ID_BYTES);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id.into())
}
