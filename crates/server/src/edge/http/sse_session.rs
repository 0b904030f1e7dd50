//! A session of HTTP+SSE.

use std::sync::Arc;

use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::Outbox;

use super::payer::Payer;
use crate::{
    Caller,
    edge::{connection::Connection, running::Owner},
    engine::{Shared, unsent},
};

/// A session of one client of HTTP+SSE.
pub(super) struct SseSession {
    pub(super) id: Box<str>,
    pub(super) caller: Caller,
    connection: Mutex<Connection>,
    pub(super) outbox: Outbox,
    _owner: Owner,
}

impl SseSession {
    /// Creates a session. Must be called inside a runtime.
    pub(super) fn new(id: Box<str>, caller: Caller, shared: &Arc<Shared>, payer: &Payer) -> Self {
        let outbox = unsent::outbox(shared, payer.key);
        let (shared, lines) = (Arc::clone(shared), outbox.clone());
        let connection =
            Connection::of(shared, caller.clone(), lines, payer.key, payer.counted).over_http();
        let owner = connection.owner();
        Self {
            id,
            caller,
            connection: Mutex::new(connection),
            outbox,
            _owner: owner,
        }
    }

    /// Begins to shut down: running calls finish, then the stream ends. Calls that wait for an
    /// answer of the client fail with a message that says why, because the session ends with this
    /// stream.
    pub(super) fn begin_shutdown(&self) {
        self.connection().begin_shutdown();
    }

    /// Ends the stream, and with it the session.
    pub(super) fn close(&self) {
        self.outbox.close();
    }

    /// Returns the connection, for one message. The lock is released before the message is handled,
    /// because a large message takes time.
    pub(super) fn connection(&self) -> Connection {
        self.connection.lock().clone()
    }
}
