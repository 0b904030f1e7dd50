//! The session of Streamable HTTP until 2025-11-25, and opening another when it is over.

use std::time::Duration;

use bytes::Bytes;
use turnbuckle_transport::http::client::HeaderValue;

use super::{Fault, Http};
use crate::{connect::initialize_again, link::Link};

/// What ends a handshake.
const INITIALIZED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// How long a server may take to accept that.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(10);

/// A session of a server, or that it has none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    id: Option<HeaderValue>,
    /// How many there were before.
    number: u64,
}

impl Session {
    /// Its name, which every message of it carries.
    pub(super) fn id(&self) -> Option<&HeaderValue> {
        self.id.as_ref()
    }

    /// Whether a server that answers 404 means that this session is over.
    pub(super) fn can_expire(&self) -> bool {
        self.id.is_some()
    }
}

impl Http {
    /// The session that messages belong to now.
    pub(super) fn session(&self) -> Session {
        self.sessions.borrow().clone()
    }

    /// A session was opened, by an answer to `initialize` with this header or without. Messages do
    /// not belong to it before the handshake is over.
    pub(super) fn begin(&self, id: Option<HeaderValue>) -> Session {
        let id = id.map(|mut id| {
            id.set_sensitive(true);
            id
        });
        let number = self.session().number + 1;
        let session = Session { id, number };
        *self.begun.lock() = Some(session.clone());
        session
    }

    /// The session to be ended: the one in use, or one that was opened and is not in use yet.
    pub(super) fn last_session(&self) -> Session {
        let begun = self.begun.lock().take();
        begun.unwrap_or_else(|| self.session())
    }

    /// Says that the handshake is over, and lets messages belong to the session that it opened.
    ///
    /// # Cancel safety
    /// Dropping the future leaves things as they were: nothing belongs to a session whose server
    /// may wait for the end of the handshake.
    pub(super) async fn end_handshake(&self, link: &Link) {
        let begun = self.begun.lock().take();
        let session = begun.unwrap_or_else(|| self.session());
        // Before anything else is sent: two requests may overtake each other.
        let telling = self.tell(link, &session, Bytes::from_static(INITIALIZED));
        match link.pending.within(INITIALIZED_TIMEOUT, telling).await {
            Some(Ok(())) => {}
            Some(Err(fault)) => {
                let error = fault.into_error(link.server().clone(), "notifications/initialized");
                tracing::warn!(%error, "the handshake did not end as it should");
            }
            None => tracing::warn!(
                server = &**link.server(),
                "did not take the end of the handshake"
            ),
        }
        self.sessions.send_replace(session);
    }

    /// Opens another session in place of one that is over. Whoever comes while that is being done
    /// waits for it.
    ///
    /// # Cancel safety
    /// Dropping the future leaves it to the next one who comes.
    pub(super) async fn reopen(&self, link: &Link, over: &Session) -> Result<(), Fault> {
        let _turn = self.reopening.lock().await;
        if self.session().number != over.number {
            return Ok(());
        }
        tracing::debug!(
            server = &**link.server(),
            "the session is over, opening another"
        );
        if let Err(error) = initialize_again(link).await {
            return Err(Fault::SessionExpired(format!(
                "no other could be opened ({error}); connect anew"
            )));
        }
        self.end_handshake(link).await;
        link.session_reopened();
        Ok(())
    }
}
