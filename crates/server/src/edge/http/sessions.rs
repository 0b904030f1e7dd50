//! The table of sessions.
//!
//! Each caller has a quota of sessions. If it is used up, a new session replaces the caller's
//! longest silent session. If the table is full, it replaces the longest silent session of the
//! caller who has the most. So no caller can prevent others from opening sessions.

use std::{collections::HashMap, fmt::Write as _, sync::Arc, time::Duration};

use http::{Response, StatusCode};
use tokio::time::Instant;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{ErrorObject, IdRef};

use super::{
    at_replica::AtReplica,
    body::HttpBody,
    held_sessions::HeldSessions,
    reply,
    session::{HttpSession, IdleLimits},
    settings::HttpSettings,
    sse_session::SseSession,
};
use crate::{
    quota::{CallerKey, Over},
    replica::Replicas,
    subscription::TooMany,
};

/// The number of random bytes in an id; too many to guess one.
const ID_BYTES: usize = 20;

/// All sessions. An idle session costs only its entry: no task, no timer.
pub(super) struct Sessions {
    table: Mutex<SessionTable>,
    max: usize,
    max_per_caller: usize,
    idle: IdleLimits,
    /// The limits for a client that has not sent `notifications/initialized`.
    uninitialized: IdleLimits,
    /// The minimum time between two searches for silent sessions.
    sweep_pause: Duration,
    /// The sessions that other replicas have opened, if they are counted together.
    held: Option<Arc<HeldSessions>>,
}

#[derive(Default)]
struct SessionTable {
    sessions: HashMap<Box<str>, SessionEntry>,
    /// The sessions of each caller who has any.
    owners: HashMap<CallerKey, Vec<Box<str>>>,
    swept: Option<Instant>,
    is_closed: bool,
}

struct SessionEntry {
    session: AnySession,
    owner: CallerKey,
}

#[derive(Clone)]
enum AnySession {
    Streamable(Arc<HttpSession>),
    Sse(Arc<SseSession>),
}

impl AnySession {
    /// How long the client has been silent. A client of HTTP+SSE reads its stream, so it is never
    /// silent.
    fn idle_for(&self, now: Instant) -> Duration {
        match self {
            Self::Streamable(session) => session.idle_for(now),
            Self::Sse(_) => Duration::ZERO,
        }
    }

    /// Whether it was opened on this replica.
    fn is_home(&self) -> bool {
        match self {
            Self::Streamable(session) => session.at.as_ref().is_none_or(AtReplica::is_home),
            Self::Sse(_) => true,
        }
    }

    fn close(&self) {
        match self {
            Self::Streamable(session) => session.close(),
            Self::Sse(session) => session.close(),
        }
    }
}

/// The reason why no session can be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoSession {
    #[error(
        "session limit ({0}) of this caller reached, and all of them are in use: end one, or raise \
         `HttpSettings::max_sessions_per_caller`"
    )]
    TooManyOfCaller(usize),
    #[error(
        "session limit ({0}) reached, and all of them are in use: try again later, or raise \
         `HttpSettings::max_sessions`"
    )]
    TooMany(usize),
    #[error("{}", no_memory(.0))]
    NoMemory(Over),
    #[error("the server is shutting down")]
    Closing,
    #[error("could not get random bytes for a session id from the operating system: {0}")]
    NoRandomness(getrandom::Error),
    #[error("{0}")]
    NoId(String),
}

fn no_memory(over: &Over) -> TooMany {
    TooMany::bytes(*over)
}

impl NoSession {
    pub(super) fn refuse(&self, id: Option<&IdRef<'_>>) -> Response<HttpBody> {
        let status = match self {
            Self::TooManyOfCaller(_) | Self::NoMemory(Over::Caller(_)) => {
                StatusCode::TOO_MANY_REQUESTS
            }
            Self::TooMany(_)
            | Self::NoMemory(Over::Total(_))
            | Self::Closing
            | Self::NoRandomness(_)
            | Self::NoId(_) => StatusCode::SERVICE_UNAVAILABLE,
        };
        let error = ErrorObject::internal(self.to_string());
        reply::retry_later(reply::error(status, id, &error))
    }
}

impl Sessions {
    pub(super) fn new(settings: &HttpSettings, replicas: Option<&Arc<Replicas>>) -> Self {
        Self {
            table: Mutex::default(),
            max: settings.max_sessions,
            max_per_caller: settings.max_sessions_per_caller,
            idle: IdleLimits::new(settings),
            uninitialized: IdleLimits {
                session: settings.initialized_within,
                ..IdleLimits::new(settings)
            },
            sweep_pause: settings.session_idle.min(settings.initialized_within) / 16,
            held: replicas
                .and_then(|replicas| HeldSessions::new(replicas, settings.max_sessions_per_caller)),
        }
    }

    /// Finds the session with this id, if it belongs to this caller.
    pub(super) fn find(&self, id: &str, caller: Option<&str>) -> Option<Arc<HttpSession>> {
        let now = Instant::now();
        let mut table = self.table();
        self.sweep_if_due(&mut table, now);
        let AnySession::Streamable(session) = table.sessions.get(id)?.session.clone() else {
            return None;
        };
        drop(table);
        // A session belongs to the caller who opened it; an id alone is not enough.
        if session.peer.caller().id() != caller {
            return None;
        }
        if session.is_left_for(&self.idle, now) {
            self.end(&session);
            return None;
        }
        session.touch_at(now);
        Some(session)
    }

    /// Opens a session with this id, or returns the existing one. `make` creates the session for
    /// its id.
    pub(super) fn open(
        &self,
        id: Box<str>,
        owner: CallerKey,
        make: impl FnOnce(Box<str>) -> HttpSession,
    ) -> Result<Arc<HttpSession>, NoSession> {
        let mut table = self.table();
        if let Some(AnySession::Streamable(session)) = table.session(&id) {
            return Ok(session);
        }
        self.admit(&mut table, owner)?;
        let session = Arc::new(make(id.clone()));
        table.insert(id, AnySession::Streamable(Arc::clone(&session)), owner);
        Ok(session)
    }

    /// Opens a session of HTTP+SSE, which lasts as long as its stream.
    pub(super) fn open_sse(
        &self,
        id: Box<str>,
        owner: CallerKey,
        make: impl FnOnce(Box<str>) -> SseSession,
    ) -> Result<Arc<SseSession>, NoSession> {
        let mut table = self.table();
        self.admit(&mut table, owner)?;
        let session = Arc::new(make(id.clone()));
        table.insert(id, AnySession::Sse(Arc::clone(&session)), owner);
        Ok(session)
    }

    pub(super) fn find_sse(&self, id: &str, caller: Option<&str>) -> Option<Arc<SseSession>> {
        let AnySession::Sse(session) = self.table().session(id)? else {
            return None;
        };
        (session.caller.id() == caller).then_some(session)
    }

    /// Finds the session with this id on this replica. This does not count as using it.
    pub(super) fn held(&self, id: &str) -> Option<Arc<HttpSession>> {
        match self.table().session(id)? {
            AnySession::Streamable(session) => Some(session),
            AnySession::Sse(_) => None,
        }
    }

    pub(super) fn end_sse(&self, id: &str) {
        self.table().remove(id);
    }

    /// Ends a session: its calls are cancelled, and its streams close.
    pub(super) fn end(&self, session: &HttpSession) {
        self.table().remove(&session.id);
        session.close();
    }

    /// Begins to shut down: no more sessions are opened, and streams that would stay open end.
    /// Running calls finish.
    pub(super) fn begin_shutdown(&self) {
        let mut table = self.table();
        table.is_closed = true;
        let all: Vec<_> = table
            .sessions
            .values()
            .map(|entry| entry.session.clone())
            .collect();
        drop(table);
        for session in all {
            match session {
                AnySession::Streamable(session) => session.begin_shutdown(),
                AnySession::Sse(session) => session.begin_shutdown(),
            }
        }
    }

    /// Makes room for another session of this caller.
    fn admit(&self, table: &mut SessionTable, owner: CallerKey) -> Result<(), NoSession> {
        if table.is_closed {
            return Err(NoSession::Closing);
        }
        self.sweep_if_due(table, Instant::now());
        let own = table.owners.get(&owner).map_or(0, Vec::len);
        if own >= self.max_per_caller {
            let victim = table.longest_idle_of(owner);
            let victim = victim.ok_or(NoSession::TooManyOfCaller(self.max_per_caller))?;
            table.evict(&victim);
        }
        if table.sessions.len() >= self.max {
            let victim = table.victim_for(owner);
            table.evict(&victim.ok_or(NoSession::TooMany(self.max))?);
        }
        Ok(())
    }

    /// Makes room for a session that this caller opens here, if the caller has too many on all
    /// replicas together. Returns a session that was closed for that, which has to end on every
    /// replica. `name` identifies the caller for all replicas.
    pub(super) fn make_room_everywhere(
        &self,
        owner: CallerKey,
        name: impl FnOnce() -> Arc<str>,
    ) -> Result<Option<Arc<HttpSession>>, NoSession> {
        let Some(held) = &self.held else {
            return Ok(None);
        };
        let mut table = self.table();
        let own = table.owners.get(&owner).map_or(0, Vec::len);
        if own < held.share() {
            return Ok(None);
        }
        let opened = table.opened_here(owner);
        if opened < held.share() {
            return Ok(None);
        }
        held.say(owner, opened + 1, name);
        if opened + held.elsewhere(owner) < self.max_per_caller {
            return Ok(None);
        }
        let victim = table.longest_idle(owner, AnySession::is_home);
        let victim = victim.ok_or(NoSession::TooManyOfCaller(self.max_per_caller))?;
        match table.remove(&victim) {
            Some(AnySession::Streamable(session)) => {
                session.close();
                Ok(Some(session))
            }
            // A session of HTTP+SSE is never silent, so it is not chosen.
            Some(AnySession::Sse(_)) | None => Ok(None),
        }
    }

    /// Stores again how many sessions this replica has opened for callers who have many.
    pub(super) fn say_again(&self) {
        let Some(held) = &self.held else { return };
        for caller in held.callers() {
            let opened = self.table().opened_here(caller);
            held.say_again(caller, opened);
        }
    }

    /// Makes room in the memory quota for a new session of this caller: ends silent sessions until
    /// there is enough.
    pub(super) fn make_room(
        &self,
        owner: CallerKey,
        has_room: impl Fn() -> Result<(), Over>,
    ) -> Result<(), NoSession> {
        while let Err(over) = has_room() {
            let mut table = self.table();
            let victim = match over {
                Over::Caller(_) => table.longest_idle_of(owner),
                Over::Total(_) => table.victim_for(owner),
            };
            table.evict(&victim.ok_or(NoSession::NoMemory(over))?);
        }
        Ok(())
    }

    /// Ends sessions that have been idle for too long. It is called when a session is opened or
    /// used, so that no task has to run for it.
    fn sweep_if_due(&self, table: &mut SessionTable, now: Instant) {
        let is_due = |swept| now.saturating_duration_since(swept) >= self.sweep_pause;
        if table.swept.is_none_or(is_due) {
            self.sweep(table, now);
        }
    }

    fn sweep(&self, table: &mut SessionTable, now: Instant) {
        table.swept = Some(now);
        let over = table.sessions.iter().filter(|(_, entry)| {
            let AnySession::Streamable(session) = &entry.session else {
                return false;
            };
            session.is_left_for(&self.idle, now)
                || (!session.is_initialized() && session.is_left_for(&self.uninitialized, now))
        });
        let over: Vec<_> = over.map(|(id, _)| id.clone()).collect();
        for id in over {
            table.evict(&id);
        }
    }

    fn table(&self) -> MutexGuard<'_, SessionTable> {
        self.table.lock()
    }
}

impl SessionTable {
    fn insert(&mut self, id: Box<str>, session: AnySession, owner: CallerKey) {
        self.owners.entry(owner).or_default().push(id.clone());
        self.sessions.insert(id, SessionEntry { session, owner });
    }

    fn session(&self, id: &str) -> Option<AnySession> {
        Some(self.sessions.get(id)?.session.clone())
    }

    fn remove(&mut self, id: &str) -> Option<AnySession> {
        let SessionEntry { session, owner } = self.sessions.remove(id)?;
        if let Some(own) = self.owners.get_mut(&owner) {
            own.retain(|other| **other != *id);
            if own.is_empty() {
                self.owners.remove(&owner);
            }
        }
        Some(session)
    }

    fn evict(&mut self, id: &str) {
        if let Some(session) = self.remove(id) {
            session.close();
        }
    }

    /// How many sessions of a caller were opened on this replica.
    fn opened_here(&self, owner: CallerKey) -> usize {
        let own = self.owners.get(&owner).into_iter().flatten();
        own.filter(|id| self.sessions[*id].session.is_home())
            .count()
    }

    /// Finds the longest silent session of a caller, if one is silent.
    fn longest_idle_of(&self, owner: CallerKey) -> Option<Box<str>> {
        self.longest_idle(owner, |_| true)
    }

    /// Finds the longest silent session of a caller among those that the filter accepts.
    fn longest_idle(
        &self,
        owner: CallerKey,
        is_chosen: impl Fn(&AnySession) -> bool,
    ) -> Option<Box<str>> {
        let own = self.owners.get(&owner)?.iter();
        let own = own.filter(|id| is_chosen(&self.sessions[*id].session));
        let now = Instant::now();
        let own = own.map(|id| (id, self.sessions[id].session.idle_for(now)));
        let (id, idle) = own.max_by_key(|(_, idle)| *idle)?;
        (idle > Duration::ZERO).then(|| id.clone())
    }

    /// Finds the session that is ended for a new one of this caller: the longest silent session of
    /// the caller who has the most. If none of these is silent, any session of that caller, if it
    /// has more than this caller.
    fn victim_for(&self, owner: CallerKey) -> Option<Box<str>> {
        let (heaviest, theirs) = self.owners.iter().max_by_key(|(_, own)| own.len())?;
        if let Some(idle) = self.longest_idle_of(*heaviest) {
            return Some(idle);
        }
        let own = self.owners.get(&owner).map_or(0, Vec::len);
        (theirs.len() > own + 1).then(|| theirs[0].clone())
    }
}

/// Makes an id that cannot be guessed, in visible ASCII.
pub(super) fn new_id() -> Result<Box<str>, NoSession> {
    let mut bytes = [0; ID_BYTES];
    getrandom::fill(&mut bytes).map_err(NoSession::NoRandomness)?;
    let mut id = String::with_capacity(2 * ID_BYTES);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id.into())
}
