//! A session of a legacy client, for all transports.

use std::{
    any::Any,
    future::{Future as _, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, OnceLock, atomic::AtomicBool},
    task::Poll,
};

use tokio::sync::oneshot;
use turnbuckle_base::lock::{Mutex, MutexGuard};
#[cfg(feature = "http")]
use turnbuckle_protocol::Revision;
use turnbuckle_protocol::SubscriptionFilter;
use turnbuckle_session::ServerLifecycle;
use turnbuckle_transport::Outbox;

use super::{
    ClientInfo,
    cancel::CancelFlag,
    log_level::SessionLevel,
    requests::{ClientAnswer, Requests},
    roots_cache::RootsCache,
    roots_watch::RootsWatch,
};
use crate::{
    quota::CallerKey,
    subscription::{Hub, Listener, NoticeOf},
};

/// A legacy session: the state of its handshake, the open requests to its client, and the client's
/// subscriptions.
pub(crate) struct Session {
    lifecycle: Mutex<ServerLifecycle<Opened>>,
    pub(crate) requests: Arc<Requests>,
    /// Set when no more answers can arrive, because the input that carries them has ended. If the
    /// server is shutting down, it has that reason.
    is_deaf: CancelFlag,
    /// The session id over HTTP. Other transports have one session, without an id.
    pub(crate) id: OnceLock<Box<str>>,
    /// The outbox for messages to the session as a whole.
    standing: OnceLock<Outbox>,
    listener: Mutex<Listener>,
    pub(super) log_level: SessionLevel,
    pub(super) roots: RootsWatch,
    /// The state that the relay keeps for the session.
    pub(super) relay_state: OnceLock<Box<dyn Any + Send + Sync>>,
    pub(super) listed_roots: RootsCache,
    /// Called with the id of each elicitation by URL whose end the client is to be notified of,
    /// because other replicas may have to notify it.
    #[cfg(feature = "http")]
    pub(crate) on_visit: OnceLock<OnVisit>,
    /// Whether a task pings the client.
    pub(super) is_pinged: AtomicBool,
}

/// Called with the id of an elicitation by URL.
#[cfg(feature = "http")]
pub(crate) type OnVisit = Box<dyn Fn(&str) + Send + Sync>;

impl Session {
    pub(crate) fn new(hub: &Arc<Hub>, caller: CallerKey) -> Self {
        Self {
            lifecycle: Mutex::default(),
            requests: Arc::default(),
            is_deaf: CancelFlag::default(),
            id: OnceLock::new(),
            standing: OnceLock::new(),
            listener: Mutex::new(Listener::of_session(hub, caller)),
            log_level: SessionLevel::default(),
            roots: RootsWatch::default(),
            relay_state: OnceLock::new(),
            listed_roots: RootsCache::default(),
            #[cfg(feature = "http")]
            on_visit: OnceLock::new(),
            is_pinged: AtomicBool::new(false),
        }
    }

    /// Sets what decides how the session is notified of updates of resources.
    pub(crate) fn with_notices(self, notice_of: Option<NoticeOf>) -> Self {
        self.listener().decide_notices(notice_of);
        self
    }

    /// Sets a prefix for the ids of this session's requests.
    #[cfg(feature = "http")]
    pub(crate) fn with_prefix(mut self, prefix: &str) -> Self {
        self.requests = Arc::new(Requests::prefixed(prefix));
        self
    }

    /// Sets the result of a handshake that took place on another replica, or before a restart.
    #[cfg(feature = "http")]
    pub(crate) fn with_handshake(mut self, revision: Revision, opened: Opened) -> Self {
        self.lifecycle = Mutex::new(ServerLifecycle::opened(revision, opened));
        self
    }

    /// Marks that the client is ready: from now on it is notified of changes through this outbox.
    /// Must be called inside a runtime.
    pub(crate) fn initialized(&self, outbox: &Outbox) {
        let _ = self.standing.set(outbox.clone());
        let mut lifecycle = self.lifecycle();
        lifecycle.initialized();
        let promised = lifecycle.client().map(|opened| opened.promised.clone());
        drop(lifecycle);
        // lifecycle: both sides MUST stay within what was negotiated.
        if let Some(promised) = promised {
            let mut listener = self.listener();
            // There are too few lists to exceed a limit.
            let _ = listener.add_all(&promised);
            listener.attach(outbox);
            listener.release();
        }
    }

    /// Whether the client has sent `notifications/initialized`.
    #[cfg(feature = "http")]
    pub(crate) fn is_ready(&self) -> bool {
        self.standing.get().is_some()
    }

    /// The client's subscriptions.
    pub(crate) fn listener(&self) -> MutexGuard<'_, Listener> {
        self.listener.lock()
    }

    /// Waits for an answer. `None` if no more answers can arrive; an answer that arrived before
    /// counts.
    pub(super) async fn hear(
        &self,
        mut answer: oneshot::Receiver<ClientAnswer>,
    ) -> Option<ClientAnswer> {
        let mut deaf = pin!(self.is_deaf.wait());
        poll_fn(|context| match Pin::new(&mut answer).poll(context) {
            Poll::Ready(answered) => Poll::Ready(answered.ok()),
            Poll::Pending => deaf.as_mut().poll(context).map(|()| None),
        })
        .await
    }

    /// The state of the handshake.
    pub(crate) fn lifecycle(&self) -> MutexGuard<'_, ServerLifecycle<Opened>> {
        self.lifecycle.lock()
    }

    /// The outbox for messages to the session as a whole, once its client is ready.
    pub(super) fn standing(&self) -> Option<&Outbox> {
        self.standing.get()
    }

    /// Marks that no more answers can arrive.
    pub(super) fn deafen(&self, reason: Option<&str>) {
        self.is_deaf.set_because(reason);
    }

    /// The reason why no more answers can arrive, if it is not the client's doing.
    pub(super) fn deaf_because(&self) -> Option<&str> {
        self.is_deaf.reason()
    }
}

/// The result of a handshake.
pub(crate) struct Opened {
    /// The client's description of itself.
    pub(crate) client: ClientInfo,
    /// The subscriptions that the server declared.
    pub(crate) promised: SubscriptionFilter,
}
