//! The relay of a gateway, with policies, logs and metrics around it.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use futures_core::future::BoxFuture;
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_protocol::{LoggingLevel, SubscriptionFilter, http::ParamHeaders, method::ListKind};
use turnbuckle_server::{
    Caller, ClientChannel, Reject, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks,
    RelayedRequest, UpdateNotice,
};
use turnbuckle_session::round::KeyRing;

use super::{
    AccessLog, EntryKind, Metrics, Policy, ask,
    asking::{Asking, CallIdentity},
    caller_use::CallerUses,
    course::Course,
    list_filter,
    part::is_part_of,
    policy::Verdict,
    request::is_task_request_of_replica,
    subject::{Directory, Moment, SeenEntries, Subject},
};
use crate::observe::Recorder;

/// The operation of a gateway: a policy that allows or denies requests, rate limits, counters for
/// Prometheus and an access log. Give it to [`Gateway::operation`](crate::Gateway::operation).
#[derive(Default)]
pub struct Operation {
    policy: RwLock<Arc<Policy>>,
    pub(super) uses: Arc<CallerUses>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) log: Option<AccessLog>,
    bound: OnceLock<Bound>,
    pub(super) recorder: Option<Arc<Recorder>>,
}

/// The parts that a gateway gives to its operation.
struct Bound {
    directory: Arc<dyn Directory>,
    asking: Arc<Asking>,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Operation {
    /// Makes an operation that allows everything, counts requests and writes no log. Add a
    /// [`policy`](Self::policy) and a [`log`](Self::log).
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the policy. [`set_policy`](Self::set_policy) changes it while the gateway runs.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        self.set_policy(policy);
        self
    }

    /// Writes a line for each request to this access log.
    #[must_use]
    pub fn log(mut self, log: AccessLog) -> Self {
        self.log = Some(log);
        self
    }

    /// Reports denied requests to this recorder, so that they appear in
    /// [`Traffic::denials`](crate::observe::Traffic::denials). Give the same recorder to
    /// [`Gateway::observe`](crate::Gateway::observe).
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Replaces the policy while the gateway runs. It applies to requests that begin from now on.
    /// Clients are notified that their lists may have changed.
    pub fn set_policy(&self, policy: Policy) {
        let mut current = self.policy.write();
        let is_listed_alike = current.lists_like(&policy);
        let bound = self.bound.get();
        if let Some(bound) = bound {
            bound.directory.set_hides_entries(policy.hides_entries());
        }
        *current = Arc::new(policy);
        drop(current);
        if let Some(bound) = bound.filter(|_| !is_listed_alike) {
            bound.directory.lists_changed();
        }
    }

    /// The counters. The application has to update those that the gateway does not know, such as
    /// the states of servers.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// All counters in the text format of Prometheus (OpenMetrics), to be served at `/metrics`.
    pub fn metrics_text(&self) -> String {
        if let Some(log) = &self.log {
            self.metrics.lost_lines(log.lost());
        }
        self.metrics.text()
    }

    /// Sets the directory of a gateway's entries and the keys, before the operation is put around
    /// the gateway.
    pub(crate) fn bind(&self, directory: Arc<dyn Directory>, keys: Option<KeyRing>) {
        let asking = Arc::new(Asking::new(ask::KEY, keys));
        directory.set_hides_entries(self.policy.read().hides_entries());
        // An operation is for one gateway; with a second one it keeps the values of the first.
        let _ = self.bound.set(Bound { directory, asking });
    }

    /// Sets the link to other replicas of the gateway, before the first request.
    #[cfg(feature = "http")]
    pub(crate) fn share(&self, link: turnbuckle_server::ReplicaLink) {
        if let Some(bound) = self.bound.get() {
            bound.asking.share(link);
        }
    }

    /// The directory, if the policy needs facts about entries of this kind.
    pub(super) fn directory(
        &self,
        policy: &Policy,
        kind: EntryKind,
    ) -> Option<&Arc<dyn Directory>> {
        let bound = self.bound.get()?;
        policy.needs_facts(kind).then_some(&bound.directory)
    }

    /// Whether a server would get a request for this entry although it does not list it.
    pub(super) fn is_unlisted(&self, caller: &Caller, kind: EntryKind, name: &str) -> bool {
        let bound = self.bound.get();
        bound.is_some_and(|bound| bound.directory.is_unlisted(caller, kind, name))
    }

    /// Whether a request only continues a call that is running and waits for answers.
    pub(super) fn continues(&self, request: &RelayedRequest<'_>) -> bool {
        let Some(bound) = self.bound.get().filter(|_| request.revision().is_modern()) else {
            return false;
        };
        let Some(state) = request.members().text("requestState") else {
            return false;
        };
        match bound.asking.open(request) {
            Some(round) => {
                let inner = round.inner();
                inner.is_some_and(|inner| bound.directory.continues(request, inner))
            }
            None => bound.directory.continues(request, &state),
        }
    }

    /// Puts the operation around a [`Relay`]. [`Gateway::operation`](crate::Gateway::operation)
    /// does this by itself, and also lets rules use expressions and ask the user, which this method
    /// does not.
    pub fn around(self: Arc<Self>, inner: Arc<dyn Relay>) -> Arc<dyn Relay> {
        Arc::new(Operated {
            operation: self,
            inner,
        })
    }
}

#[derive(Clone)]
struct Operated {
    operation: Arc<Operation>,
    inner: Arc<dyn Relay>,
}

impl Operated {
    /// Waits until the facts of an entry that rules may need are known. Returns `None` if no
    /// waiting is necessary.
    fn settling(&self, course: &Course) -> Option<BoxFuture<'static, Result<(), Reject>>> {
        let policy = Arc::clone(&self.operation.policy.read());
        let (kind, name) = course.about.entry()?;
        let directory = self.operation.directory(&policy, kind)?;
        let caller = &course.about.caller;
        if directory.facts(caller, kind, name).is_some() {
            return None;
        }
        directory.settling(caller)
    }

    /// The entries that the caller of a list may see, if rules can hide any.
    fn seen_entries(&self, policy: &Arc<Policy>, course: &Course) -> Option<SeenEntries> {
        let list = ListKind::of(course.about.method).filter(|_| policy.hides_entries())?;
        let (policy, caller) = (Arc::clone(policy), course.about.caller.clone());
        let directory = self.operation.directory(&policy, EntryKind::of(list));
        let directory = directory.cloned();
        Some(SeenEntries::new(move |kind, name| {
            policy.shows(&caller, directory.as_ref(), kind, name)
        }))
    }

    /// Decides about a request and serves it.
    fn run(
        &self,
        mut course: Course,
        request: RelayedRequest<'_>,
    ) -> Option<BoxFuture<'static, RelayReply>> {
        let operation = &self.operation;
        let policy = Arc::clone(&operation.policy.read());
        let confirm = match course.admit(&policy, &request) {
            Ok(confirm) => confirm,
            Err((outcome, reject)) => return Some(course.refuse(outcome, reject)),
        };
        let seen = self.seen_entries(&policy, &course);
        let request = request.with_note(course.admitted().with_seen(seen));
        let work = match (confirm, operation.bound.get()) {
            (Some(confirm), Some(bound)) => {
                Some(ask::serve(&bound.asking, confirm, &request, &self.inner))
            }
            (Some(_), None) => {
                let said = "a rule needs to ask the user, but this gateway was opened without its operation";
                Some(Box::pin(std::future::ready(Reject::internal(said).into()))
                    as BoxFuture<'static, _>)
            }
            // The rule that asked may have been removed, but the state is still the gateway's.
            (None, Some(bound)) => match bound.asking.open(&request) {
                Some(round) => {
                    let identity = CallIdentity::of(&request);
                    let kept = request.to_owned_request();
                    let (asking, inner) = (&bound.asking, &self.inner);
                    Some(ask::resume(asking, identity, kept, &round, inner))
                }
                None => self.inner.serve(request),
            },
            (None, None) => self.inner.serve(request),
        };
        let Some(work) = work else {
            // Use the server's own answer.
            course.outcome = "ok";
            return None;
        };
        Some(Box::pin(async move {
            let mut reply = work.await;
            if let RelayReply::Result(result) = &mut reply
                && policy.hides_entries()
                && let Some(list) = ListKind::of(course.about.method)
                && let Some(list) = list_filter::filtered(
                    &policy,
                    &course.about.caller,
                    course.operation.directory(&policy, EntryKind::of(list)),
                    list,
                    result,
                )
            {
                *result = list;
            }
            course.end(&reply);
            reply
        }))
    }
}

/// The same relay, for a request that has waited.
struct Settled {
    operated: Operated,
    course: Mutex<Option<Course>>,
}

impl Relay for Settled {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        self.operated.offer(caller)
    }

    fn serve(&self, request: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        let course = self.course.lock().take()?;
        if self.operated.settling(&course).is_some() {
            let said = "a server that a rule depends on is still starting; try again later";
            return Some(course.refuse("error", Reject::internal(said)));
        }
        self.operated.run(course, request)
    }
}

impl Relay for Operated {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        self.inner.offer(caller)
    }

    fn serve(&self, request: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        if is_task_request_of_replica(&request) {
            return self.inner.serve(request);
        }
        let mut course = Course::begin(&self.operation, &request);
        let Some(settling) = self.settling(&course) else {
            return self.run(course, request);
        };
        // Requests are counted even while they wait.
        let policy = Arc::clone(&self.operation.policy.read());
        if let Err((outcome, reject)) = course.enter(&policy, &request) {
            return Some(course.refuse(outcome, reject));
        }
        let (kept, operated) = (request.to_owned_request(), self.clone());
        Some(Box::pin(async move {
            if let Err(reject) = settling.await {
                return course.refuse("error", reject).await;
            }
            let course = Mutex::new(Some(course));
            match kept.serve(&Settled { operated, course }) {
                Some(work) => work.await,
                None => Reject::internal("the gateway does not serve this method").into(),
            }
        }))
    }

    fn listen(&self, request: &RelayedRequest<'_>, wanted: &SubscriptionFilter) -> RelayListen {
        let policy = Arc::clone(&self.operation.policy.read());
        let mut wanted = wanted.clone();
        if let Some(uris) = &mut wanted.resource_subscriptions {
            let directory = self.operation.directory(&policy, EntryKind::Resource);
            let is_settling =
                directory.is_some_and(|directory| directory.settling(request.caller()).is_some());
            uris.retain(|uri| {
                let is_known = || {
                    let facts = directory?.facts(request.caller(), EntryKind::Resource, uri);
                    facts.map(|_| ())
                };
                // A rule that needs the entry's server cannot be evaluated yet.
                if is_settling && is_known().is_none() {
                    return false;
                }
                let subject = Subject::entry(request.caller(), EntryKind::Resource, uri, directory);
                let subject = subject.called("subscriptions/listen");
                policy.judge(&subject, Moment::Call) == Verdict::Allow
            });
        }
        self.inner.listen(request, &wanted)
    }

    fn listen_tasks(&self, request: &RelayedRequest<'_>, ids: &[String]) -> Option<RelayTasks> {
        // A task belongs to the caller that was allowed to create it.
        self.inner.listen_tasks(request, ids)
    }

    /// Rules judge the updated resource, too, because a server may report any.
    fn update_notice(&self, caller: &Caller, followed: &str, updated: &str) -> UpdateNotice {
        let policy = Arc::clone(&self.operation.policy.read());
        let directory = self.operation.directory(&policy, EntryKind::Resource);
        let judge = |uri| {
            let subject = Subject::entry(caller, EntryKind::Resource, uri, directory);
            policy.judge(&subject.called("subscriptions/listen"), Moment::Call)
        };
        // The user may have been asked before the subscription.
        if matches!(judge(followed), Verdict::Deny(_)) {
            return UpdateNotice::Nothing;
        }
        if followed == updated || judge(updated) == Verdict::Allow {
            return self.inner.update_notice(caller, followed, updated);
        }
        if is_part_of(followed, updated) {
            return UpdateNotice::FollowedOnly;
        }
        UpdateNotice::Nothing
    }

    /// A denied tool is checked like one that does not exist.
    fn param_headers(&self, caller: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        let policy = Arc::clone(&self.operation.policy.read());
        if !policy.is_empty() {
            let directory = self.operation.directory(&policy, EntryKind::Tool);
            let subject = Subject::entry(caller, EntryKind::Tool, tool, directory);
            if matches!(policy.judge(&subject, Moment::List), Verdict::Deny(_)) {
                return None;
            }
        }
        self.inner.param_headers(caller, tool)
    }

    fn log_level(&self, front: &ClientChannel, level: LoggingLevel) {
        self.inner.log_level(front, level);
    }
}
