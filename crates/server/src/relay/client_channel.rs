//! Sends notifications and questions to the client of a relayed request.

use std::{any::Any, sync::Arc};

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    ErrorObject, LoggingLevel, Revision,
    envelope::{self, Raw},
};

use crate::{
    Caller,
    client::{CancelFlag, Peer},
    subscription::{Subject, TooMany},
};

/// The way back to the client of one request: its stream and its session. Clones share them.
#[derive(Clone)]
pub struct ClientChannel {
    peer: Arc<Peer>,
    revision: Revision,
}

impl ClientChannel {
    pub(crate) fn new(peer: &Arc<Peer>, revision: Revision) -> Self {
        Self {
            peer: Arc::clone(peer),
            revision,
        }
    }

    /// The revision of the client.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The caller of the request.
    pub fn caller(&self) -> &Caller {
        self.peer.caller()
    }

    /// Whether the request was passed on by another replica, with [`ReplicaLink`](super::ReplicaLink).
    #[cfg(feature = "http")]
    pub fn is_from_replica(&self) -> bool {
        self.caller()
            .get::<crate::client::caller::AtAnotherReplica>()
            .is_some()
    }

    /// The reason of the cancellation that is dropping a future on this thread; `None` if the client
    /// gave no reason, or if no request is being cancelled. Call it in the `drop` of a value that the
    /// future of a [`Relay`](super::Relay) holds.
    pub fn cancelled_because() -> Option<Arc<str>> {
        CancelFlag::dropped_because()
    }

    /// The log level of the session; `None` before the client sets one, and for a client of
    /// 2026-07-28, whose requests carry it.
    pub fn session_log_level(&self) -> Option<LoggingLevel> {
        self.peer.log_level()
    }

    /// Sends a notification on the stream of the request. Waits while the client does not read;
    /// does nothing if the client is gone.
    pub async fn notify(&self, method: &str, params: Option<Raw<'_>>) {
        let mut message = Vec::new();
        envelope::write_raw_notification(&mut message, method, params);
        // A peer that is gone needs none.
        let _ = self.peer.outbox().send(&message).await;
    }

    /// Sends a message that another replica wrote for the client.
    #[cfg(feature = "http")]
    pub(super) async fn pass_on(&self, message: &str) {
        // A peer that is gone needs none.
        let _ = self.peer.outbox().send(message.as_bytes()).await;
    }

    /// Sends a request to a legacy client on the stream of the request and waits for its answer;
    /// `None` if the client is gone or has no session.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that the answer is no longer needed.
    pub async fn ask(
        &self,
        method: &str,
        params: Option<Raw<'_>>,
    ) -> Option<Result<Box<RawValue>, ErrorObject>> {
        let answered = self.peer.ask_raw(method, params).await;
        answered.or_else(|| {
            let reason = self.peer.ended_because()?;
            Some(Err(ErrorObject::internal(reason)))
        })
    }

    /// Notifies the session when the visit with this id is over, after
    /// [`Changes::elicitation_completed`](crate::Changes::elicitation_completed). Does nothing without a session.
    pub fn expect_visit(&self, id: &str) {
        self.peer.expect_visit_of(id);
    }

    /// Subscribes the session of a legacy client to changes of a resource.
    ///
    /// # Errors
    /// If it has too many subscriptions, or there is no session. The text says which.
    pub fn subscribe(&self, uri: &str) -> Result<(), String> {
        match self.peer.listener() {
            Some(mut listener) => listener
                .add(Subject::Resource(uri.into()))
                .map_err(|too_many: TooMany| too_many.to_string()),
            None => Err("there is no session here to subscribe with".to_owned()),
        }
    }

    /// Ends the subscription of the session to a resource, which [`subscribe`](Self::subscribe)
    /// began.
    pub fn unsubscribe(&self, uri: &str) {
        if let Some(mut listener) = self.peer.listener() {
            listener.remove_resource(uri);
        }
    }

    /// A value that lives as long as the session of a legacy client; `None` without a session. A
    /// server has one relay, which has one such type.
    pub fn session_state<T: Default + Any + Send + Sync>(&self) -> Option<&T> {
        self.peer.relay_state()
    }
}
