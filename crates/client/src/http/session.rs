//! The session of Streamable HTTP until 2025-11-25, and opening another when it is over.

use bytes::Bytes;
use turnbuckle_transport::http::client::HeaderValue;

use super::{Fault, Http, listen::INITIALIZED};
use crate::{connect::initialize_again, link::Link};

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

    /// A session was opened, by an answer to `initialize` with this header or without.
    pub(super) fn begin(&self, id: Option<HeaderValue>) {
        let id = id.map(|mut id| {
            id.set_sensitive(true);
            id
        });
        self.sessions.send_modify(|session| {
            session.id = id;
            session.number += 1;
        });
    }

    /// Opens another session in place of one that is over. Whoever comes while that is being done
    /// waits for it.
    pub(super) async fn reopen(&self, link: &Link, over: &Session) -> Result<(), Fault> {
        let _turn = self.reopening.lock().await;
        if self.session().number != over.number {
            return Ok(());
        }
        tracing::debug!(
            server = &**link.server(),
            "the session is over, opening another"
        );
        match initialize_again(link).await {
            Ok(()) => {
                self.tell(link, Bytes::from_static(INITIALIZED)).await?;
                link.session_reopened();
                Ok(())
            }
            Err(error) => Err(Fault::SessionExpired(format!(
                "no other could be opened ({error}); connect anew"
            ))),
        }
    }
}
