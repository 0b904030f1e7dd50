//! The client of a connection or an exchange: its caller, session state and outbox.

use std::{
    any::Any,
    sync::{Arc, atomic::Ordering},
};

use serde::Serialize;
use serde_json::{Value, json};
use turnbuckle_base::lock::MutexGuard;
use turnbuckle_protocol::{
    CancelledNotificationParams, ElicitRequestParams, ElicitRequestUrlParams, Id, IdRef,
    InputRequest, LoggingLevel, ProgressNotificationParams, Revision,
    envelope::{self, Raw},
    meta::key,
};
use turnbuckle_session::ServerLifecycle;
use turnbuckle_transport::Outbox;

use super::{
    ClientInfo,
    cancel::CancelFlag,
    requests::{self, ClientAnswer, OnProgress, Waiting},
    roots_cache::RootsCache,
    roots_watch::RootsWatch,
    session::{Opened, Session},
    trace,
};
use crate::{
    Caller,
    quota::{CallerKey, CountedCaller},
    subscription::Listener,
};

/// The client, as one exchange or one connection sees it.
pub(crate) struct Peer {
    caller: Caller,
    outbox: Outbox,
    session: Option<Arc<Session>>,
    input_ended: CancelFlag,
    detaching: Detaching,
    /// The caller against whose quotas requests count, if they are counted.
    counted: Option<CountedCaller>,
}

/// Whether the client of an exchange can disconnect and fetch the rest later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detaching {
    Possible,
    Meaningless,
}

/// Why a question gets no answer: the client can answer only on a stream of a server that is
/// shutting down.
#[cfg(feature = "http")]
const SHUTTING_DOWN: &str = "the server is shutting down: call again";

/// A marker in an outbox: the connection is to be closed here. No message begins like this.
pub(crate) const DETACH: &[u8] = b":";

impl Peer {
    /// `session` holds the handshake of a legacy client; a modern exchange has no session.
    /// `input_ended` is set when the client will send nothing more.
    pub(crate) fn new(
        caller: Caller,
        outbox: Outbox,
        session: Option<Arc<Session>>,
        input_ended: CancelFlag,
    ) -> Self {
        let counted = caller.id().map(|_| CallerKey::of(&caller).into());
        Self {
            caller,
            outbox,
            session,
            input_ended,
            detaching: Detaching::Meaningless,
            counted,
        }
    }

    /// Counts requests against the quotas of this caller.
    pub(crate) fn counted(mut self, caller: Option<CountedCaller>) -> Self {
        self.counted = caller;
        self
    }

    /// The caller against whose quotas requests count. `None` for the user who started the process.
    pub(crate) fn counted_caller(&self) -> Option<CountedCaller> {
        self.counted
    }

    /// The caller against whose quotas stored data counts. The user who started the process has
    /// such quotas, too.
    pub(crate) fn quota_key(&self) -> CallerKey {
        let counted = self.counted.map(|counted| counted.key);
        counted.unwrap_or_else(|| CallerKey::of(&self.caller))
    }

    /// Marks that the client can disconnect and come back: the reader of the outbox handles
    /// [`DETACH`].
    #[cfg(feature = "http")]
    pub(crate) fn detachable(mut self) -> Self {
        self.detaching = Detaching::Possible;
        self
    }

    /// The same client, with the caller's current permissions.
    #[cfg(feature = "http")]
    pub(crate) fn with_caller(&self, caller: Caller) -> Self {
        self.for_exchange(caller, self.outbox.clone())
    }

    /// The same client for one exchange, with the caller's current permissions.
    #[cfg(feature = "http")]
    pub(crate) fn for_exchange(&self, caller: Caller, outbox: Outbox) -> Self {
        Self {
            caller,
            outbox,
            session: self.session.clone(),
            input_ended: self.input_ended.clone(),
            detaching: self.detaching,
            counted: self.counted,
        }
    }

    pub(crate) fn is_detachable(&self) -> bool {
        self.detaching == Detaching::Possible
    }

    /// Closes the connection after everything that was sent so far.
    pub(crate) async fn detach(&self) {
        // Nothing to do if the client has disconnected.
        let _ = self.outbox.send(DETACH).await;
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The id of the session, if it has one.
    pub(crate) fn session_id(&self) -> Option<&str> {
        self.session.as_ref()?.id.get().map(AsRef::as_ref)
    }

    /// The legacy session, before or after its handshake.
    pub(crate) fn lifecycle(&self) -> Option<MutexGuard<'_, ServerLifecycle<Opened>>> {
        Some(self.session.as_ref()?.lifecycle())
    }

    /// Marks that the client is ready: from now on its session is notified of changes through this
    /// outbox. Must be called inside a runtime.
    pub(crate) fn initialized(&self) {
        if let Some(session) = &self.session {
            session.initialized(&self.outbox);
        }
    }

    /// The outbox for messages to a legacy client that belong to no request.
    pub(crate) fn standing(&self) -> Option<Outbox> {
        self.session.as_ref()?.standing().cloned()
    }

    /// The revision of the legacy session, after its handshake.
    pub(crate) fn session_revision(&self) -> Option<Revision> {
        self.lifecycle()?.revision()
    }

    /// The description of itself that the legacy client sent in its handshake.
    pub(crate) fn client(&self) -> Option<ClientInfo> {
        Some(self.lifecycle()?.client()?.client.clone())
    }

    /// The subscriptions of a legacy client.
    pub(crate) fn listener(&self) -> Option<MutexGuard<'_, Listener>> {
        Some(self.session.as_ref()?.listener())
    }

    /// The least severe log messages that a legacy client wants, if it has set a level.
    pub(crate) fn log_level(&self) -> Option<LoggingLevel> {
        self.session.as_ref()?.log_level.get()
    }

    /// Sets the log level of the session. Returns `false` if there is no session.
    pub(crate) fn set_log_level(&self, level: LoggingLevel) -> bool {
        let session = self.session.as_ref();
        session
            .inspect(|session| session.log_level.set(level))
            .is_some()
    }

    /// Whether the roots of a legacy client are being fetched.
    pub(crate) fn roots_watch(&self) -> Option<&RootsWatch> {
        Some(&self.session.as_ref()?.roots)
    }

    /// The cached roots of a legacy client.
    fn roots_cache(&self) -> Option<&RootsCache> {
        Some(&self.session.as_ref()?.listed_roots)
    }

    /// Drops the cached roots, because the client reported that they have changed.
    pub(crate) fn forget_roots(&self) {
        if let Some(cache) = self.roots_cache() {
            cache.forget();
        }
    }

    /// Returns `true` for the first caller only: a session is pinged by one task.
    pub(crate) fn begin_pings(&self) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| !session.is_pinged.swap(true, Ordering::Relaxed))
    }

    /// Takes a progress notification of the client about a question.
    pub(crate) fn take_progress(&self, report: ProgressNotificationParams) {
        if let Some(session) = &self.session {
            session.requests.progress(report);
        }
    }

    pub(crate) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Marks that the client will send nothing more.
    pub(crate) fn end_input(&self) {
        self.end(None);
    }

    /// Marks that the server is shutting down and takes nothing more from the client.
    #[cfg(feature = "http")]
    pub(crate) fn shut_down(&self) {
        self.end(Some(SHUTTING_DOWN));
    }

    /// The reason why questions get no answer any more, if it is not the client's doing.
    pub(crate) fn ended_because(&self) -> Option<&str> {
        self.session.as_ref()?.deaf_because()
    }

    fn end(&self, reason: Option<&str>) {
        self.input_ended.set();
        if let Some(session) = &self.session {
            session.deafen(reason);
        }
    }

    /// A flag that is set when the client will send nothing more, or when the server begins to shut
    /// down.
    pub(crate) fn ended(&self) -> CancelFlag {
        self.input_ended.clone()
    }

    /// Takes the response to a request of the server. Returns whether an answer was awaited.
    pub(crate) fn answer(&self, response: &envelope::Response<'_>) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.requests.answer(response))
    }

    /// Handles a message that cannot be parsed. If it is the answer to a question, the question
    /// fails, because there will be no other answer. Returns whether it was one.
    pub(crate) fn unreadable(&self, malformed: &envelope::Malformed<'_>, message: &[u8]) -> bool {
        let id = requests::unreadable_answer(malformed, message);
        id.is_some_and(|id| self.unanswered(&id, &malformed.message))
    }

    /// Fails a question whose answer cannot be parsed. Returns whether there was such a question.
    pub(crate) fn unanswered(&self, id: &Id, problem: &str) -> bool {
        let session = self.session.as_ref();
        session.is_some_and(|session| session.requests.fail(&id.as_ref(), problem))
    }

    /// Asks a legacy client a question, and waits for its answer. `None` if the client
    /// disconnected.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that the answer is no longer needed.
    pub(crate) async fn request(
        &self,
        question: &InputRequest,
        progress: Option<OnProgress>,
    ) -> Option<ClientAnswer> {
        let method = question.method();
        if let InputRequest::Elicit(params) = question
            && let ElicitRequestParams::Url(visit) = &**params
        {
            self.expect_visit(visit);
        }
        match question {
            InputRequest::CreateMessage(params) => {
                self.ask_with_progress(method, params, progress).await
            }
            InputRequest::ListRoots(params) => self.list_roots(method, params).await,
            InputRequest::Elicit(params) => self.ask_with_progress(method, params, progress).await,
            _ => None,
        }
    }

    /// Returns the cached roots if there are any and the client reports changes; otherwise asks for
    /// them.
    // roots: servers SHOULD cache root information appropriately.
    async fn list_roots<P: Serialize>(&self, method: &str, params: &P) -> Option<ClientAnswer> {
        let cache = self.roots_cache().filter(|_| self.tells_of_roots());
        if let Some(listed) = cache.and_then(RootsCache::listed) {
            return Some(Ok(listed));
        }
        self.list_roots_anew(method, params).await
    }

    /// Asks for the roots, and caches them for [`request`](Self::request).
    pub(super) async fn list_roots_anew<P: Serialize>(
        &self,
        method: &str,
        params: &P,
    ) -> Option<ClientAnswer> {
        let Some(cache) = self.roots_cache() else {
            return self.ask(method, params).await;
        };
        let asked = cache.asked();
        let answered = self.ask(method, params).await?;
        if let Ok(listed) = &answered {
            cache.keep(asked, listed);
        }
        Some(answered)
    }

    /// Whether the client has declared that it reports changes of its roots.
    fn tells_of_roots(&self) -> bool {
        let roots = self.client().and_then(|client| client.capabilities.roots);
        roots.is_some_and(|roots| roots.list_changed == Some(true))
    }

    /// Registers an elicitation by URL, so that the client is notified when it is complete.
    pub(crate) fn expect_visit(&self, visit: &ElicitRequestUrlParams) {
        if let Some(id) = &visit.elicitation_id {
            self.expect_visit_of(id);
        }
    }

    /// Registers the id of an elicitation by URL. Other replicas are told too, because the client
    /// may listen there.
    pub(crate) fn expect_visit_of(&self, id: &str) {
        if let Some(mut listener) = self.listener() {
            listener.add_visit(id);
            drop(listener);
            #[cfg(feature = "http")]
            if let Some(tell) = self.session.as_ref().and_then(|own| own.on_visit.get()) {
                tell(id);
            }
        }
    }

    /// Sends a request to a legacy client without waiting for its answer.
    pub(crate) fn ask_and_forget<P: Serialize>(&self, method: &str, params: &P) {
        let entered = self
            .session
            .as_ref()
            .map(|session| session.requests.enter());
        if let Some(Ok((waiting, _))) = entered {
            let mut message = Vec::new();
            if write_request(&mut message, &waiting.id.as_ref(), method, params).is_ok() {
                self.outbox.push(&message);
            }
        }
    }

    /// Sends a request to a legacy client, and waits for its answer. `None` if the client
    /// disconnected.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that the answer is no longer needed.
    pub(crate) async fn ask<P: Serialize>(&self, method: &str, params: &P) -> Option<ClientAnswer> {
        self.ask_with_progress(method, params, None).await
    }

    async fn ask_with_progress<P: Serialize>(
        &self,
        method: &str,
        params: &P,
        progress: Option<OnProgress>,
    ) -> Option<ClientAnswer> {
        let session = self.session.as_ref()?;
        let (waiting, answer) = session.requests.enter().ok()?;
        let mut message = Vec::new();
        let id = waiting.id.as_ref();
        match progress {
            None => write_request(&mut message, &id, method, params).ok()?,
            Some(hear) => {
                let params = with_token(params, &waiting.id)?;
                write_request(&mut message, &id, method, &params).ok()?;
                waiting.hear_progress(hear);
            }
        }
        let cancel = CancelQuestion {
            waiting,
            outbox: &self.outbox,
        };
        self.outbox.send(&message).await.ok()?;
        let answered = session.hear(answer).await;
        drop(cancel);
        answered
    }

    /// Sends a request whose params are JSON already to a legacy client, and waits for its answer.
    /// `None` if the client disconnected.
    ///
    /// # Cancel safety
    /// Dropping the future tells the client that the answer is no longer needed.
    pub(crate) async fn ask_raw(
        &self,
        method: &str,
        params: Option<Raw<'_>>,
    ) -> Option<ClientAnswer> {
        let session = self.session.as_ref()?;
        let (waiting, answer) = session.requests.enter().ok()?;
        let mut message = Vec::new();
        envelope::write_raw_request(&mut message, &waiting.id.as_ref(), method, params);
        let cancel = CancelQuestion {
            waiting,
            outbox: &self.outbox,
        };
        self.outbox.send(&message).await.ok()?;
        let answered = session.hear(answer).await;
        drop(cancel);
        answered
    }

    /// The state that the relay keeps for the session; `None` without a session.
    pub(crate) fn relay_state<T: Default + Any + Send + Sync>(&self) -> Option<&T> {
        let kept = &self.session.as_ref()?.relay_state;
        kept.get_or_init(|| Box::new(T::default())).downcast_ref()
    }

    /// Sends a notification, and waits while too many messages are queued. Does nothing if the
    /// client has disconnected.
    pub(crate) async fn notify<P: Serialize>(&self, method: &str, params: &P) {
        let mut message = Vec::new();
        match envelope::write_notification(&mut message, method, params) {
            Ok(()) => drop(self.outbox.send(&message).await),
            Err(error) => tracing::error!(method, %error, "a notification cannot be written"),
        }
    }
}

/// Adds a progress token to the params: the id of the request, which is unique.
fn with_token<P: Serialize>(params: &P, id: &Id) -> Option<Value> {
    let mut params = serde_json::to_value(params).ok()?;
    let meta = params
        .as_object_mut()?
        .entry("_meta")
        .or_insert_with(|| json!({}));
    let token = serde_json::to_value(id).ok()?;
    meta.as_object_mut()?
        .insert(key::PROGRESS_TOKEN.to_owned(), token);
    Some(params)
}

/// Writes a request, with the current trace.
fn write_request<P: Serialize>(
    message: &mut Vec<u8>,
    id: &IdRef<'_>,
    method: &str,
    params: &P,
) -> Result<(), serde_json::Error> {
    match trace::with_trace(params) {
        Some(params) => envelope::write_request(message, id, method, &params),
        None => envelope::write_request(message, id, method, params),
    }
}

/// Cancels a question at the client if it is dropped before the answer arrives.
struct CancelQuestion<'a> {
    waiting: Waiting,
    outbox: &'a Outbox,
}

impl Drop for CancelQuestion<'_> {
    fn drop(&mut self) {
        if !self.waiting.is_open() {
            return;
        }
        let reason = CancelFlag::dropped_because();
        let reason = reason.as_deref();
        let params = CancelledNotificationParams::new(self.waiting.id.clone())
            .with_reason(reason.unwrap_or("the server no longer waits for the answer"));
        let mut message = Vec::new();
        let method = "notifications/cancelled";
        if envelope::write_notification(&mut message, method, &params).is_ok() {
            self.outbox.push(&message);
        }
    }
}
