//! The session of Streamable HTTP until 2025-11-25.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::HeaderValue;

use super::{Fault, Http, position::jitter};

/// The message that ends a handshake.
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How long a server may take to accept that.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(4);

/// How often it is sent if the connection is lost meanwhile, and the pause before it is sent again.
const INITIALIZED_ATTEMPTS: u32 = 3;
const INITIALIZED_PAUSE: Duration = Duration::from_millis(250);

/// How long a session has to last to count as one that did not vanish.
const SETTLED: Duration = Duration::from_secs(30);

/// How long to wait before a session is opened in place of one that vanished: doubled each time in a
/// row, up to the longest. The first is opened at once, since servers are restarted.
const FIRST_REOPEN_WAIT: Duration = Duration::from_millis(250);
const LONGEST_REOPEN_WAIT: Duration = Duration::from_secs(30);

/// The session of a server, if it has one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    id: Option<HeaderValue>,
    /// How many there were before.
    pub(crate) number: u64,
}

impl Session {
    /// Its name, which every message of it carries.
    pub(super) fn id(&self) -> Option<&HeaderValue> {
        self.id.as_ref()
    }

    /// Whether a server that answers 404 means that this session is over.
    pub(crate) fn can_expire(&self) -> bool {
        self.id.is_some()
    }
}

/// The sessions of a connection, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    current: watch::Sender<Session>,
    /// The session that `initialize` has opened, while the handshake is not over.
    begun: Mutex<Option<Session>>,
    /// Held while a session is opened in place of one that is over.
    pub(crate) reopening: tokio::sync::Mutex<Reopenings>,
}

/// How often sessions were opened in place of others lately. Where they keep vanishing, as behind two
/// replicas that do not share them, a client must not shake hands without end.
#[derive(Debug, Default)]
pub(crate) struct Reopenings {
    in_a_row: u32,
    last: Option<Instant>,
}

impl Reopenings {
    /// A session is over: how long to wait before another is opened.
    pub(crate) fn next_wait(&mut self, now: Instant) -> Duration {
        let lasted = self.last.map(|last| now.saturating_duration_since(last));
        self.in_a_row = match lasted {
            Some(lasted) if lasted < SETTLED => self.in_a_row.saturating_add(1),
            _ => 0,
        };
        let Some(doublings) = self.in_a_row.checked_sub(1) else {
            return Duration::ZERO;
        };
        let wait = FIRST_REOPEN_WAIT.saturating_mul(1 << doublings.min(10));
        let wait = wait.min(LONGEST_REOPEN_WAIT);
        wait + jitter(wait / 4)
    }

    /// Another was opened, or could not be.
    pub(crate) fn note(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

impl Sessions {
    /// The session that messages belong to now.
    pub(crate) fn current(&self) -> Session {
        self.current.borrow().clone()
    }

    /// Tells of each session that takes the place of another.
    pub(crate) fn changes(&self) -> watch::Receiver<Session> {
        self.current.subscribe()
    }

    /// A session was opened, by an answer to `initialize` with this header or without. Messages do
    /// not belong to it before the handshake is over.
    pub(super) fn begin(&self, id: Option<HeaderValue>) -> Session {
        let id = id.map(|mut id| {
            id.set_sensitive(true);
            id
        });
        let number = self.current().number + 1;
        let session = Session { id, number };
        *self.begun.lock() = Some(session.clone());
        session
    }

    /// Takes the newest session, at the end of a handshake or of the connection: the one that was opened and is not in use
    /// yet, or else the one in use.
    pub(crate) fn take_newest(&self) -> Session {
        let begun = self.begun.lock().take();
        begun.unwrap_or_else(|| self.current())
    }
}

impl Http {
    /// Says that the handshake is over, and lets messages belong to the session that it opened.
    ///
    /// # Cancel safety
    /// Dropping the future leaves things as they were: nothing belongs to a session whose server
    /// may wait for the end of the handshake.
    pub(crate) async fn end_handshake(&self) {
        let session = self.sessions.take_newest();
        // Before anything else is sent: two requests may overtake each other.
        let server = self.ends.server();
        for attempt in 1..=INITIALIZED_ATTEMPTS {
            let telling = self.tell(&session, Bytes::from_static(INITIALIZED));
            match self.pending.within(INITIALIZED_TIMEOUT, telling).await {
                Some(Ok(())) => break,
                // A server that has not heard it says nothing of its own for as long as the session
                // lasts. To say it twice is to say it once.
                Some(Err(Fault::Lost(_) | Fault::Unsent(_))) if attempt < INITIALIZED_ATTEMPTS => {
                    tokio::time::sleep(INITIALIZED_PAUSE).await;
                }
                Some(Err(fault)) => {
                    let error = fault.into_error(server.clone(), "notifications/initialized");
                    tracing::warn!(%error, "the handshake did not end as it should");
                    break;
                }
                None if attempt < INITIALIZED_ATTEMPTS => {}
                None => tracing::warn!(server = &**server, "did not take the end of the handshake"),
            }
        }
        self.withdraw_questions();
        self.sessions.current.send_replace(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_keep_vanishing_are_opened_more_and_more_slowly() {
        let start = Instant::now();
        let mut reopenings = Reopenings::default();
        assert_eq!(reopenings.next_wait(start), Duration::ZERO);
        reopenings.note(start);
        let mut waits = Vec::new();
        let mut now = start;
        for _ in 0..12 {
            let wait = reopenings.next_wait(now);
            now += wait;
            reopenings.note(now);
            waits.push(wait);
        }
        assert!(waits[0] >= FIRST_REOPEN_WAIT, "{waits:?}");
        assert!(waits[1] >= FIRST_REOPEN_WAIT * 2, "{waits:?}");
        let longest = LONGEST_REOPEN_WAIT + LONGEST_REOPEN_WAIT / 4;
        assert!(waits.iter().all(|wait| *wait <= longest), "{waits:?}");
        assert!(waits[11] >= LONGEST_REOPEN_WAIT, "{waits:?}");
        // One that lasted ends the row.
        assert_eq!(reopenings.next_wait(now + SETTLED), Duration::ZERO);
    }
}
