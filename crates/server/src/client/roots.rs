//! Changed roots of a session: calls the server's callback with the new list.
//!
//! Only in sessions up to 2025-11-25. Later clients are asked for their roots during a call, and do
//! not report changes.

use std::{pin::pin, sync::Arc, task::Poll, time::Duration};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{ListRootsResult, RequestParams, Root, lenient};

use super::{peer::Peer, roots_watch::RootsWatch};
use crate::Caller;

/// How long a client may take to list its roots. It is short because no person has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

/// The callback for changed roots.
pub(crate) type OnRootsChanged = Arc<dyn Fn(RootsChanged) -> BoxFuture<'static, ()> + Send + Sync>;

/// A client whose roots have changed, passed to the callback of
/// [`Server::on_roots_changed`](crate::Server::on_roots_changed). Get the new roots with
/// [`roots`](Self::roots).
#[derive(Clone)]
pub struct RootsChanged {
    peer: Arc<Peer>,
}

/// The reason why a client's roots could not be fetched, from [`RootsChanged::roots`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// The client answered with an error, for example because its user declined.
    #[error("the client did not list its roots: {message} ({code})")]
    Refused {
        /// The error code.
        code: i64,
        /// The client's message.
        message: String,
    },
    /// The answer is not a list of roots. Entries that cannot be parsed are left out and cause no
    /// error.
    #[error("the client's list of roots cannot be read: {0}")]
    Unreadable(String),
    /// The client did not answer within 30 seconds.
    #[error("the client did not list its roots within {ANSWER_WITHIN:?}")]
    Late,
    /// The client disconnected, or its session ended.
    #[error("the client went away before it listed its roots")]
    Gone,
}

impl RootsChanged {
    /// Returns the caller of the session, which distinguishes the clients of a server.
    pub fn caller(&self) -> &Caller {
        self.peer.caller()
    }

    /// Asks the client for its current roots, and waits at most 30 seconds for its answer.
    ///
    /// # Errors
    /// [`RootsError`] if the client does not answer, or its answer cannot be read.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that the answer is no longer needed.
    pub async fn roots(&self) -> Result<Vec<Root>, RootsError> {
        let params = RequestParams::default();
        let asking = self.peer.list_roots_anew("roots/list", &params);
        let asked = tokio::time::timeout(ANSWER_WITHIN, asking);
        match asked.await {
            Err(_) => Err(RootsError::Late),
            Ok(None) => Err(RootsError::Gone),
            Ok(Some(Err(error))) => Err(RootsError::Refused {
                code: error.code,
                message: error.message,
            }),
            Ok(Some(Ok(result))) => {
                let (listed, warnings) =
                    lenient::read::<ListRootsResult>("roots/list", result.get())
                        .map_err(|error| RootsError::Unreadable(error.to_string()))?;
                for warning in warnings {
                    tracing::warn!("{warning}");
                }
                Ok(listed.roots)
            }
        }
    }
}

/// Handles a report of the client that its roots have changed. `peer` must be that of the session,
/// not of a call. Must be called inside a runtime.
pub(crate) fn changed(hook: &OnRootsChanged, peer: Arc<Peer>) {
    let can_list = peer
        .client()
        .is_some_and(|client| client.capabilities.roots.is_some());
    if !can_list || !peer.roots_watch().is_some_and(RootsWatch::begin) {
        return;
    }
    let fetch = RootsFetch(Some(Arc::clone(&peer)));
    let hook = Arc::clone(hook);
    tokio::spawn(async move {
        // Ends with the connection, because the client cannot be asked after that.
        let mut closed = pin!(peer.outbox().closed());
        loop {
            let mut look = hook(RootsChanged {
                peer: Arc::clone(&peer),
            });
            let is_over = std::future::poll_fn(|context| {
                if closed.as_mut().poll(context).is_ready() {
                    return Poll::Ready(true);
                }
                look.as_mut().poll(context).map(|()| false)
            })
            .await;
            if is_over {
                return;
            }
            if peer.roots_watch().is_none_or(RootsWatch::end) {
                return fetch.done();
            }
        }
    });
}

/// A task that fetches the roots of a session. If it is dropped before it has finished, by a panic
/// or with the connection, another task may fetch them.
struct RootsFetch(Option<Arc<Peer>>);

impl RootsFetch {
    fn done(mut self) {
        self.0 = None;
    }
}

impl Drop for RootsFetch {
    fn drop(&mut self) {
        if let Some(watch) = self.0.as_ref().and_then(|peer| peer.roots_watch()) {
            watch.give_up();
        }
    }
}
