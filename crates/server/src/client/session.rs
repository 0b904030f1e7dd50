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
    subscription::{Hub, Listener},
};

/// A legacy session: how far its handshake has come, what we asked the client in it, and what the
/// client wants to be told.
pub(crate) struct Session {
    lifecycle: Mutex<ServerLifecycle<Opened>>,
    pub(crate) requests: Arc<Requests>,
    /// Set when no answer can come any more: the line on which they come is at its end. If that is
    /// because the server is shutting down, it has the reason.
    is_deaf: CancelFlag,
    /// The name by which HTTP knows it; other transports have one session, without a name.
    pub(crate) id: OnceLock<Box<str>>,
    /// The outbox for messages to the session as a whole.
    standing: OnceLock<Outbox>,
    listener: Mutex<Listener>,
    pub(super) log_level: SessionLevel,
    pub(super) roots: RootsWatch,
    /// The relay's state of the session.
    pub(super) relay_state: OnceLock<Box<dyn Any + Send + Sync>>,
    pub(super) listed_roots: RootsCache,
    /// Called with the name of each visit whose end the client is to be told of, where other replicas
    /// may have to tell it.
    #[cfg(feature = "http")]
    pub(crate) on_visit: OnceLock<OnVisit>,
    /// Whether a task pings the client.
    pub(super) is_pinged: AtomicBool,
}

/// Called with the name of a visit.
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

    /// The requests of this session have ids that begin like this.
    #[cfg(feature = "http")]
    pub(crate) fn with_prefix(mut self, prefix: &str) -> Self {
        self.requests = Arc::new(Requests::prefixed(prefix));
        self
    }

    /// The handshake of this session took place on another replica, or before a restart.
    #[cfg(feature = "http")]
    pub(crate) fn with_handshake(mut self, revision: Revision, opened: Opened) -> Self {
        self.lifecycle = Mutex::new(ServerLifecycle::opened(revision, opened));
        self
    }

    /// The client is ready: from now on it is told of changes, by lines in this outbox. Must be
    /// called inside a runtime.
    pub(crate) fn initialized(&self, outbox: &Outbox) {
        let _ = self.standing.set(outbox.clone());
        let mut lifecycle = self.lifecycle();
        lifecycle.initialized();
        let promised = lifecycle.client().map(|opened| opened.promised.clone());
        drop(lifecycle);
        // lifecycle: both sides MUST stay within what was negotiated.
        if let Some(promised) = promised {
            let mut listener = self.listener();
            // Lists alone are never too many.
            let _ = listener.add_all(&promised);
            listener.attach(outbox);
            listener.release();
        }
    }

    /// Whether the client has said that it is ready.
    #[cfg(feature = "http")]
    pub(crate) fn is_ready(&self) -> bool {
        self.standing.get().is_some()
    }

    /// The client's subscriptions.
    pub(crate) fn listener(&self) -> MutexGuard<'_, Listener> {
        self.listener.lock()
    }

    /// Waits for an answer; `None` when none can come any more. One that came before the end
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

    /// How far the handshake has come.
    pub(crate) fn lifecycle(&self) -> MutexGuard<'_, ServerLifecycle<Opened>> {
        self.lifecycle.lock()
    }

    /// The outbox for messages to the session as a whole, once its client is ready.
    pub(super) fn standing(&self) -> Option<&Outbox> {
        self.standing.get()
    }

    /// No answer can come any more.
    pub(super) fn deafen(&self, reason: Option<&str>) {
        self.is_deaf.set_because(reason);
    }

    /// Why no answer can come any more, if that is not because of the client.
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
