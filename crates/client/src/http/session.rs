//! The sessions of Streamable HTTP, up to revision 2025-11-25.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::HeaderValue;

use super::{Http, TellError, position::jitter};

/// The message that ends a handshake.
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How long a server may take to accept this message.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(4);

/// How often the message is sent if the connection is lost meanwhile, and the pause between two
/// attempts.
const INITIALIZED_ATTEMPTS: u32 = 3;
const INITIALIZED_PAUSE: Duration = Duration::from_millis(250);

/// How long a session must last before its loss counts as a new first loss.
const SETTLED: Duration = Duration::from_secs(30);

/// How long to wait before a lost session is replaced. The wait doubles with each loss in a row, up to
/// the longest. The first session is replaced at once, because servers are restarted now and then.
const FIRST_REOPEN_WAIT: Duration = Duration::from_millis(250);
const LONGEST_REOPEN_WAIT: Duration = Duration::from_secs(30);

/// The session of a server, if it has one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    id: Option<HeaderValue>,
    /// How many sessions the connection had before.
    pub(crate) number: u64,
}

impl Session {
    /// The session id, which every message of the session carries.
    pub(super) fn id(&self) -> Option<&HeaderValue> {
        self.id.as_ref()
    }

    /// Whether a 404 of the server means that this session has expired.
    pub(crate) fn can_expire(&self) -> bool {
        self.id.is_some()
    }
}

/// The sessions of a connection, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    current: watch::Sender<Session>,
    /// The session that `initialize` has opened, until the handshake is complete.
    begun: Mutex<Option<Session>>,
    /// Locked while an expired session is replaced.
    pub(crate) reopening: tokio::sync::Mutex<Reopenings>,
}

/// How often sessions were replaced recently. If they keep expiring, for example behind two replicas
/// that do not share them, the client must not send handshakes without end.
#[derive(Debug, Default)]
pub(crate) struct Reopenings {
    in_a_row: u32,
    last: Option<Instant>,
}

impl Reopenings {
    /// Called when a session has expired. Returns how long to wait before another is opened.
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

    /// Records that another session was opened, or that opening it failed.
    pub(crate) fn note(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

impl Sessions {
    /// The session that messages currently belong to.
    pub(crate) fn current(&self) -> Session {
        self.current.borrow().clone()
    }

    /// Receives each session that replaces another.
    pub(crate) fn changes(&self) -> watch::Receiver<Session> {
        self.current.subscribe()
    }

    /// Records a session that was opened, by an answer to `initialize` with or without a session
    /// header. Messages belong to it only after the handshake is complete.
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

    /// Takes the newest session, at the end of a handshake or of the connection: the session whose
    /// handshake is not complete yet, or else the current one.
    pub(crate) fn take_newest(&self) -> Session {
        let begun = self.begun.lock().take();
        begun.unwrap_or_else(|| self.current())
    }
}

impl Http {
    /// Completes the handshake, and lets messages belong to the session that it opened.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing: no message is sent in a session whose server may still wait
    /// for the end of the handshake.
    pub(crate) async fn end_handshake(&self) {
        let session = self.sessions.take_newest();
        // Sent before anything else, because two requests may overtake each other.
        let server = self.ends.server();
        for attempt in 1..=INITIALIZED_ATTEMPTS {
            let telling = self.tell(&session, Bytes::from_static(INITIALIZED));
            match self.pending.within(INITIALIZED_TIMEOUT, telling).await {
                Some(Ok(())) => break,
                // A server that did not receive it sends no messages of its own for the whole session.
                // Sending it twice does no harm.
                Some(Err(TellError::Lost(_) | TellError::Unreachable(_)))
                    if attempt < INITIALIZED_ATTEMPTS =>
                {
                    tokio::time::sleep(INITIALIZED_PAUSE).await;
                }
                Some(Err(error)) => {
                    let error = error
                        .into_fault()
                        .into_error(server.clone(), "notifications/initialized");
                    tracing::warn!(%error, "could not complete the handshake");
                    break;
                }
                None if attempt < INITIALIZED_ATTEMPTS => {}
                None => tracing::warn!(
                    server = &**server,
                    "the server did not accept `notifications/initialized` in time"
                ),
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
        // A session that lasted ends the series.
        assert_eq!(reopenings.next_wait(now + SETTLED), Duration::ZERO);
    }
}
