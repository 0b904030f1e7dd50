//! What the parts of a connection over HTTP share.

use std::sync::atomic::{AtomicU16, Ordering};

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_transport::{
    Receive,
    http::client::{Address, Agent, Events, Reply},
};

use super::{Fault, head, refusal::Refusal, session::Session};
use crate::link::{Inbound, Link};
use crate::tap::Direction;

/// A connection over HTTP, as its calls and its tasks see it.
pub(crate) struct Http {
    pub(super) agent: Agent,
    pub(super) address: Address,
    /// The longest message taken, in bytes.
    pub(super) limit: usize,
    pub(super) sessions: watch::Sender<Session>,
    /// The session that `initialize` has opened, while the handshake is not over.
    pub(super) begun: Mutex<Option<Session>>,
    /// Held while a session is opened in place of one that is over.
    pub(super) reopening: tokio::sync::Mutex<()>,
    /// Streams that have said what they were for. They are read to their end, so that their
    /// connection can be used again.
    pub(super) leftovers: mpsc::Sender<Events>,
    /// Where messages go, if the server has named another place for them (HTTP+SSE).
    post_to: RwLock<Option<Address>>,
    /// The status of the last answer to a request. Only the search for a server looks at it, while
    /// nothing else is asked.
    last_status: AtomicU16,
    /// Takes what the server says. It holds the connection, which holds this, until it is closed.
    inbound: Mutex<Option<Inbound>>,
}

impl Http {
    pub(super) fn new(
        agent: Agent,
        address: Address,
        limit: usize,
        leftovers: mpsc::Sender<Events>,
    ) -> Self {
        Self {
            agent,
            address,
            limit,
            sessions: watch::Sender::new(Session::default()),
            begun: Mutex::new(None),
            reopening: tokio::sync::Mutex::new(()),
            leftovers,
            post_to: RwLock::new(None),
            last_status: AtomicU16::new(0),
            inbound: Mutex::new(None),
        }
    }

    /// Brings what the server says to the connection, from now on.
    pub(super) fn attach(&self, inbound: Inbound) {
        *self.inbound.lock() = Some(inbound);
    }

    /// The whole URL, which may have secrets in its query.
    pub(crate) fn url(&self) -> String {
        self.address.uri().to_string()
    }

    /// Lets go of the connection.
    pub(crate) fn detach(&self) {
        let inbound = self.inbound.lock().take();
        // Its tasks end with it: not under the lock.
        drop(inbound);
    }

    /// Takes a message of the server.
    pub(super) fn receive(&self, message: &[u8]) {
        let mut inbound = self.inbound.lock();
        if let Some(inbound) = &mut *inbound {
            inbound.receive(message);
        }
    }

    /// Where messages go.
    pub(super) fn post_to(&self) -> Address {
        let post_to = self.post_to.read();
        post_to.as_ref().unwrap_or(&self.address).clone()
    }

    /// Sends messages there from now on; answers come by the stream of events.
    pub(super) fn answer_by_events(&self, post_to: Address) {
        *self.post_to.write() = Some(post_to);
    }

    /// Whether answers come by the stream of events (HTTP+SSE).
    pub(crate) fn is_answered_by_events(&self) -> bool {
        let post_to = self.post_to.read();
        post_to.is_some()
    }

    /// The status of the last answer to a request; 0 if there was none yet.
    pub(crate) fn last_status(&self) -> u16 {
        self.last_status.load(Ordering::Relaxed)
    }

    pub(super) fn note_status(&self, reply: &Reply) {
        self.last_status
            .store(reply.status().as_u16(), Ordering::Relaxed);
    }

    /// Says something that wants no answer, and waits until the server has it.
    pub(super) async fn tell(
        &self,
        link: &Link,
        session: &Session,
        message: Bytes,
    ) -> Result<(), Fault> {
        let headers = head::of_session(link, session);
        link.show(Direction::Out, &message);
        let reply = self.agent.post(&self.post_to(), headers, message).await?;
        if reply.status().is_success() {
            return Ok(());
        }
        Err(Refusal::read(reply, self.limit).await.into_fault())
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
