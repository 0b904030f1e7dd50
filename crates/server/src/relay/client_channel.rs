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

/// Sends messages to the client of one request, on the stream of the request or in its session.
/// Clones share the same stream and session.
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

    /// Returns the revision that the client speaks.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the caller of the request.
    pub fn caller(&self) -> &Caller {
        self.peer.caller()
    }

    /// Whether another replica passed the request on, with [`ReplicaLink`](super::ReplicaLink).
    #[cfg(feature = "http")]
    pub fn is_from_replica(&self) -> bool {
        self.caller()
            .get::<crate::client::caller::AtAnotherReplica>()
            .is_some()
    }

    /// Returns the client's reason for the cancellation that is dropping a future on this thread.
    /// `None` if the client gave no reason, or if no request is being cancelled. Call it in the
    /// `drop` of a value that the future of a [`Relay`](super::Relay) holds.
    pub fn cancelled_because() -> Option<Arc<str>> {
        CancelFlag::dropped_because()
    }

    /// Returns the log level of the session. `None` if the client has not set one, and for a client
    /// of 2026-07-28, whose requests carry the level.
    pub fn session_log_level(&self) -> Option<LoggingLevel> {
        self.peer.log_level()
    }

    /// Sends a notification on the stream of the request. Waits while too many messages for the
    /// client are queued. Does nothing if the client has disconnected.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn notify(&self, method: &str, params: Option<Raw<'_>>) {
        let mut message = Vec::new();
        envelope::write_raw_notification(&mut message, method, params);
        // Nothing to do if the client has disconnected.
        let _ = self.peer.outbox().send(&message).await;
    }

    /// Sends the client a message that another replica wrote for it.
    #[cfg(feature = "http")]
    pub(super) async fn pass_on(&self, message: &str) {
        // Nothing to do if the client has disconnected.
        let _ = self.peer.outbox().send(message.as_bytes()).await;
    }

    /// Sends a request to a legacy client on the stream of the request, and waits for its answer.
    /// `None` if the client has disconnected or has no session.
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

    /// Registers an elicitation by URL with this id: the session is notified when it is complete,
    /// which is reported with
    /// [`Changes::elicitation_completed`](crate::Changes::elicitation_completed). Does nothing
    /// without a session.
    pub fn expect_visit(&self, id: &str) {
        self.peer.expect_visit_of(id);
    }

    /// Subscribes the session of a legacy client to changes of a resource.
    ///
    /// # Errors
    /// If the session has too many subscriptions, or if there is no session. The text says which.
    pub fn subscribe(&self, uri: &str) -> Result<(), String> {
        match self.peer.listener() {
            Some(mut listener) => listener
                .add(Subject::Resource(uri.into()))
                .map_err(|too_many: TooMany| too_many.to_string()),
            None => Err("`resources/subscribe` works only in a session".to_owned()),
        }
    }

    /// Ends a subscription of the session to a resource, which was made with
    /// [`subscribe`](Self::subscribe).
    pub fn unsubscribe(&self, uri: &str) {
        if let Some(mut listener) = self.peer.listener() {
            listener.remove_resource(uri);
        }
    }

    /// Returns a value that lives as long as the session of a legacy client; `None` without a
    /// session. The value is created with `Default` at the first call. All calls for a session must
    /// use the same type, because a session has one such value.
    pub fn session_state<T: Default + Any + Send + Sync>(&self) -> Option<&T> {
        self.peer.relay_state()
    }
}
