//! The other end of a connection: who it is, how far its session has come, how to tell it things.

use std::sync::{
    Arc, LockResult, Mutex, MutexGuard, PoisonError, Weak,
    atomic::{AtomicU8, Ordering},
};

use serde::Serialize;
use turnbuckle_protocol::{
    CancelledNotificationParams, Id, InputRequest, Revision, SubscriptionFilter, envelope,
};
use turnbuckle_session::ServerLifecycle;
use turnbuckle_transport::Outbox;

use crate::{
    Caller,
    ask::{Answered, Requests, Waiting},
    cancel::CancelFlag,
    extract::Introduction,
};

/// The other end, as one exchange or one connection sees it.
pub(crate) struct Peer {
    caller: Caller,
    outbox: Outbox,
    session: Option<Arc<Session>>,
    input_ended: CancelFlag,
    detaching: Detaching,
}

/// Whether the client of an exchange can hang up and come back for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detaching {
    Possible,
    Meaningless,
}

/// Stands in an outbox where the connection is to be closed. No message begins like this.
pub(crate) const DETACH: &[u8] = b":";

/// A legacy session: how far its handshake has come, and what we asked the client in it.
#[derive(Default)]
pub(crate) struct Session {
    lifecycle: Mutex<ServerLifecycle<Opened>>,
    pub(crate) requests: Arc<Requests>,
}

impl Session {
    /// The handshake.
    pub(crate) fn lock(&self) -> LockResult<MutexGuard<'_, ServerLifecycle<Opened>>> {
        self.lifecycle.lock()
    }
}

/// What a handshake leaves behind.
pub(crate) struct Opened {
    /// What the client said of itself.
    pub(crate) client: Introduction,
    /// What we said we could tell it of.
    pub(crate) promised: SubscriptionFilter,
}

impl Peer {
    /// `session` is where a legacy client's handshake is kept; a modern exchange has none.
    /// `input_ended` says that the other end will send nothing more.
    pub(crate) fn new(
        caller: Caller,
        outbox: Outbox,
        session: Option<Arc<Session>>,
        input_ended: CancelFlag,
    ) -> Self {
        Self {
            caller,
            outbox,
            session,
            input_ended,
            detaching: Detaching::Meaningless,
        }
    }

    /// The client can hang up and come back: whoever empties the outbox knows [`DETACH`].
    #[cfg(feature = "http")]
    pub(crate) fn detachable(mut self) -> Self {
        self.detaching = Detaching::Possible;
        self
    }

    /// The same end, with what its caller may do now.
    #[cfg(feature = "http")]
    pub(crate) fn with_caller(&self, caller: Caller) -> Self {
        Self {
            caller,
            outbox: self.outbox.clone(),
            session: self.session.clone(),
            input_ended: self.input_ended.clone(),
            detaching: self.detaching,
        }
    }

    pub(crate) fn is_detachable(&self) -> bool {
        self.detaching == Detaching::Possible
    }

    /// Closes the connection behind what was sent so far.
    pub(crate) async fn detach(&self) {
        // A client that is gone needs no closing.
        let _ = self.outbox.send(DETACH).await;
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The legacy session, opened or not.
    pub(crate) fn session(&self) -> Option<MutexGuard<'_, ServerLifecycle<Opened>>> {
        let session = self.session.as_ref()?;
        Some(session.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The revision of the legacy session, once it is opened.
    pub(crate) fn session_revision(&self) -> Option<Revision> {
        self.session()?.revision()
    }

    /// What a legacy client said of itself when it opened its session.
    pub(crate) fn client(&self) -> Option<Introduction> {
        Some(self.session()?.client()?.client.clone())
    }

    /// What a legacy client was promised to be told of.
    fn promised(&self) -> Option<SubscriptionFilter> {
        Some(self.session()?.client()?.promised.clone())
    }

    /// The other end will send nothing more.
    pub(crate) fn end_input(&self) {
        self.input_ended.set();
    }

    /// Waits until the other end will send nothing more.
    pub(crate) async fn input_ended(&self) {
        self.input_ended.wait().await;
    }

    /// Takes a response to something that we asked.
    pub(crate) fn answer(&self, response: &envelope::Response<'_>) {
        if let Some(session) = &self.session {
            session.requests.answer(response);
        }
    }

    /// Asks a legacy client, and waits for its answer; `None` if it went away.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that nobody waits any more.
    pub(crate) async fn request(&self, question: &InputRequest) -> Option<Answered> {
        let session = self.session.as_ref()?;
        let (waiting, answer) = session.requests.enter().ok()?;
        let mut message = Vec::new();
        let (id, method) = (waiting.id.as_ref(), question.method());
        let written = match question {
            InputRequest::CreateMessage(params) => {
                envelope::write_request(&mut message, &id, method, params)
            }
            InputRequest::ListRoots(params) => {
                envelope::write_request(&mut message, &id, method, params)
            }
            InputRequest::Elicit(params) => {
                envelope::write_request(&mut message, &id, method, params)
            }
        };
        written.ok()?;
        let unasked = Unasked {
            waiting,
            outbox: &self.outbox,
        };
        self.outbox.send(&message).await.ok()?;
        let answered = answer.await.ok();
        drop(unasked);
        answered
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

/// Takes a question back when nobody waits for its answer any more.
struct Unasked<'a> {
    waiting: Waiting,
    outbox: &'a Outbox,
}

impl Drop for Unasked<'_> {
    fn drop(&mut self) {
        if !self.waiting.is_open() {
            return;
        }
        let params = CancelledNotificationParams {
            request_id: Some(self.waiting.id.clone()),
            ..CancelledNotificationParams::default()
        };
        let mut message = Vec::new();
        let method = "notifications/cancelled";
        if envelope::write_notification(&mut message, method, &params).is_ok() {
            self.outbox.push(&message);
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
    /// The listen request; a legacy session has none.
    subscription: Option<Id>,
    filter: SubscriptionFilter,
    runtime: tokio::runtime::Handle,
    /// Lists that changed and were not told yet. Changes while a slow peer is being told fold into
    /// one: what is queued for a listener never grows.
    untold: AtomicU8,
}

/// Stands among the untold lists of a listener that must be told something else first.
const HELD: u8 = 1 << 7;

/// What a listener wants to hear.
pub(crate) enum Wants {
    /// What the session was promised.
    Session,
    /// What the filter of this request names, once [`Listener::release`] was called.
    Listen(Id, SubscriptionFilter),
}

/// The params of a notification that belongs to a listen request.
#[derive(Serialize)]
pub(crate) struct Tagged<'a, P> {
    #[serde(flatten)]
    pub(crate) params: P,
    #[serde(rename = "_meta")]
    pub(crate) meta: Tag<'a>,
}

/// Which listen request something belongs to. As a type of its own because `Meta` cannot hold ids
/// beyond 64 bits.
#[derive(Serialize)]
pub(crate) struct Tag<'a> {
    #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
    pub(crate) subscription: &'a Id,
}

impl Listener {
    /// Must be called inside a runtime: changes may come from threads that have none.
    pub(crate) fn new(peer: Arc<Peer>, wants: Wants) -> Self {
        let (subscription, filter, untold) = match wants {
            // lifecycle: both sides MUST stay within what was negotiated.
            Wants::Session => (None, peer.promised().unwrap_or_default(), 0),
            Wants::Listen(id, filter) => (Some(id), filter, HELD),
        };
        Self {
            peer,
            subscription,
            filter,
            runtime: tokio::runtime::Handle::current(),
            untold: AtomicU8::new(untold),
        }
    }

    /// Tells of a change, from any thread, without waiting.
    pub(crate) fn list_changed(self: &Arc<Self>, list: ListChanged) {
        if list.is_wanted(&self.filter) && self.untold.fetch_or(list.bit(), Ordering::AcqRel) == 0 {
            self.start_telling();
        }
    }

    /// Lets a listen request be told of changes, those included that came since it was made.
    pub(crate) fn release(self: &Arc<Self>) {
        if self.untold.fetch_and(!HELD, Ordering::AcqRel) != HELD {
            self.start_telling();
        }
    }

    fn start_telling(self: &Arc<Self>) {
        let outbox = self.peer.outbox.clone();
        let listener = Arc::downgrade(self);
        self.runtime.spawn(Self::tell(listener, outbox));
    }

    /// Room first, lists after: changes that come while the peer does not read fold into one, and
    /// a listener that is gone by then is told nothing.
    async fn tell(listener: Weak<Self>, outbox: Outbox) {
        while outbox.ready().await.is_ok() {
            let Some(listener) = listener.upgrade() else {
                return;
            };
            let Some(list) = listener.next_untold() else {
                return;
            };
            match &listener.subscription {
                Some(id) => listener.peer.notify(list.method(), &tagged((), id)).await,
                None => listener.peer.notify(list.method(), &()).await,
            }
        }
    }

    fn next_untold(&self) -> Option<ListChanged> {
        let untold = self.untold.load(Ordering::Acquire);
        let list = ListChanged::ALL
            .into_iter()
            .find(|list| untold & list.bit() != 0)?;
        self.untold.fetch_and(!list.bit(), Ordering::AcqRel);
        Some(list)
    }
}

/// Params that belong to a listen request.
pub(crate) fn tagged<P>(params: P, subscription: &Id) -> Tagged<'_, P> {
    Tagged {
        params,
        meta: Tag { subscription },
    }
}
