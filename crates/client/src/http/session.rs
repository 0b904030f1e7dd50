//! The session of Streamable HTTP until 2025-11-25.

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::watch;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::HeaderValue;

use super::Http;

/// What ends a handshake.
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How long a server may take to accept that.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(10);

/// A session of a server, or that it has none.
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
    pub(crate) reopening: tokio::sync::Mutex<()>,
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

    /// The newest session: the one in use, or one that was opened and is not in use yet.
    pub(crate) fn newest(&self) -> Session {
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
        let session = self.sessions.newest();
        // Before anything else is sent: two requests may overtake each other.
        let telling = self.tell(&session, Bytes::from_static(INITIALIZED));
        let server = self.ends.server();
        match self.pending.within(INITIALIZED_TIMEOUT, telling).await {
            Some(Ok(())) => {}
            Some(Err(fault)) => {
                let error = fault.into_error(server.clone(), "notifications/initialized");
                tracing::warn!(%error, "the handshake did not end as it should");
            }
            None => tracing::warn!(server = &**server, "did not take the end of the handshake"),
        }
        self.sessions.current.send_replace(session);
    }
}
