//! The other end of a connection: who it is, how far its session has come, how to tell it things.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU8, Ordering},
};

use serde::Serialize;
use turnbuckle_protocol::{Id, Meta, Revision, SubscriptionFilter, envelope};
use turnbuckle_session::ServerLifecycle;
use turnbuckle_transport::Outbox;

use crate::{Caller, extract::Introduction};

/// The other end, as one exchange or one connection sees it.
pub(crate) struct Peer {
    caller: Caller,
    outbox: Outbox,
    session: Option<Arc<Session>>,
}

/// A legacy session: how far its handshake has come.
pub(crate) type Session = Mutex<ServerLifecycle<Introduction>>;

impl Peer {
    /// `session` is where a legacy client's handshake is kept; a modern exchange has none.
    pub(crate) fn new(caller: Caller, outbox: Outbox, session: Option<Arc<Session>>) -> Self {
        Self {
            caller,
            outbox,
            session,
        }
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The legacy session, opened or not.
    pub(crate) fn session(&self) -> Option<MutexGuard<'_, ServerLifecycle<Introduction>>> {
        let session = self.session.as_ref()?;
        Some(session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The revision of the legacy session, once it is opened.
    pub(crate) fn session_revision(&self) -> Option<Revision> {
        self.session()?.revision()
    }

    /// What a legacy client said of itself when it opened its session.
    pub(crate) fn client(&self) -> Option<Introduction> {
        self.session()?.client().cloned()
    }

    /// Sends a notification; waits while the peer does not read. A peer that is gone needs none.
    pub(crate) async fn notify<P: Serialize>(&self, method: &str, params: &P) {
        let mut message = Vec::new();
        match envelope::write_notification(&mut message, method, params) {
            Ok(()) => drop(self.outbox.send(&message).await),
            Err(error) => tracing::error!(method, %error, "a notification cannot be written"),
        }
    }
}

/// A list of the catalog that changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListChanged {
    Tools,
    Prompts,
    Resources,
}

impl ListChanged {
    const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    fn method(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources => "notifications/resources/list_changed",
        }
    }

    fn is_wanted(self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Tools => filter.wants_tools(),
            Self::Prompts => filter.wants_prompts(),
            Self::Resources => filter.wants_resources(),
        }
    }
}

/// Somebody who is told of changes: a legacy session, or one `subscriptions/listen`.
pub(crate) struct Listener {
    peer: Arc<Peer>,
    wants: Wants,
    runtime: tokio::runtime::Handle,
    /// Lists that changed and were not told yet. Changes while a slow peer is being told fold into
    /// one: what is queued for a listener never grows.
    untold: AtomicU8,
}

/// What a listener wants to hear.
pub(crate) enum Wants {
    /// Everything, as a legacy session does.
    Session,
    /// What the filter of this request names.
    Listen(Id, SubscriptionFilter),
}

impl Listener {
    /// Must be called inside a runtime: changes may come from threads that have none.
    pub(crate) fn new(peer: Arc<Peer>, wants: Wants) -> Self {
        let runtime = tokio::runtime::Handle::current();
        Self {
            peer,
            wants,
            runtime,
            untold: AtomicU8::new(0),
        }
    }

    /// Tells of a change, from any thread, without waiting.
    pub(crate) fn list_changed(self: &Arc<Self>, list: ListChanged) {
        if let Wants::Listen(_, filter) = &self.wants
            && !list.is_wanted(filter)
        {
            return;
        }
        if self.untold.fetch_or(list.bit(), Ordering::AcqRel) != 0 {
            return;
        }
        let listener = Arc::clone(self);
        self.runtime.spawn(async move { listener.tell().await });
    }

    async fn tell(&self) {
        let meta = match &self.wants {
            Wants::Session => None,
            Wants::Listen(id, _) => Some(Meta::new().with_subscription_id(id)),
        };
        let params = meta.map(|meta| serde_json::json!({ "_meta": meta }));
        // Room first, bits after: changes that come while the peer does not read fold into one.
        while self.peer.outbox.ready().await.is_ok() {
            let untold = self.untold.swap(0, Ordering::AcqRel);
            if untold == 0 {
                return;
            }
            for list in ListChanged::ALL
                .into_iter()
                .filter(|list| untold & list.bit() != 0)
            {
                self.peer.notify(list.method(), &params).await;
            }
        }
    }
}
