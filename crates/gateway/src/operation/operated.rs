//! The relay of a gateway, with its operation around it.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_core::future::BoxFuture;
use tokio::time::Instant;
use turnbuckle_base::lock::RwLock;
use turnbuckle_protocol::{
    LoggingLevel, Revision, SubscriptionFilter, envelope::Raw, error::code, http::ParamHeaders,
};
use turnbuckle_server::{
    Caller, Front, Reject, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks, Relayed,
};
use turnbuckle_session::round::KeyRing;

use super::{
    AccessLog, AccessRecord, EntryKind, Metrics, Policy, access_log,
    ask::{self, Confirm},
    asking::{Asking, CallIdentity},
    caller_use::{CallerUses, Running, TooMuch},
    list_filter,
    policy::Verdict,
    request::{About, subject},
    subject::{Directory, Moment, Subject},
};
use crate::observe::Recorder;

/// Decides about the requests of a gateway, counts them and writes them down.
#[derive(Default)]
pub struct Operation {
    policy: RwLock<Arc<Policy>>,
    uses: Arc<CallerUses>,
    metrics: Arc<Metrics>,
    log: Option<AccessLog>,
    bound: OnceLock<Bound>,
    recorder: Option<Arc<Recorder>>,
}

/// What a gateway gives to its operation.
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
    /// Allows everything, and counts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decides by this policy.
    #[must_use]
    pub fn policy(self, policy: Policy) -> Self {
        self.set_policy(policy);
        self
    }

    /// Writes requests down.
    #[must_use]
    pub fn log(mut self, log: AccessLog) -> Self {
        self.log = Some(log);
        self
    }

    /// Tells a recorder what is denied.
    #[must_use]
    pub fn recorder(mut self, recorder: Arc<Recorder>) -> Self {
        self.recorder = Some(recorder);
        self
    }

    /// Decides by another policy from now on.
    pub fn set_policy(&self, policy: Policy) {
        *self.policy.write() = Arc::new(policy);
    }

    /// What is counted.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// The counters as a text, with what others count brought up to date.
    pub fn metrics_text(&self) -> String {
        if let Some(log) = &self.log {
            self.metrics.lost_lines(log.lost());
        }
        self.metrics.text()
    }

    /// Gives it what a gateway knows, before it is put around the gateway.
    pub(crate) fn bind(&self, directory: Arc<dyn Directory>, keys: Option<KeyRing>) {
        let asking = Arc::new(Asking::new(ask::KEY, keys));
        // An operation is for one gateway; another one keeps what it was given first.
        let _ = self.bound.set(Bound { directory, asking });
    }

    fn directory(&self, policy: &Policy) -> Option<&Arc<dyn Directory>> {
        let bound = self.bound.get()?;
        policy.needs_facts().then_some(&bound.directory)
    }

    /// Puts this around a relay. [`Gateway::operation`](crate::Gateway::operation) does this, and lets
    /// rules know more than names: expressions and questions need that.
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
    /// Waits until the facts of an entry are known that a rule may ask for; `None` if there is nothing to
    /// wait for.
    fn settling(&self, request: &Relayed<'_>) -> Option<BoxFuture<'static, ()>> {
        let policy = Arc::clone(&self.operation.policy.read());
        let directory = self.operation.directory(&policy)?;
        let (kind, name) = subject(request.method(), request.members())?;
        if directory.facts(request.caller(), kind, &name).is_some() {
            return None;
        }
        directory.settling(request.caller())
    }
}

/// The same relay for a request that has waited.
struct Settled(Operated);

impl Relay for Settled {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        self.0.offer(caller)
    }

    fn serve(&self, request: Relayed<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        if self.0.settling(&request).is_some() {
            let said = "a server is still starting, and a rule needs to know it; try again later";
            return Some(Box::pin(std::future::ready(Reject::internal(said).into())));
        }
        self.0.serve(request)
    }
}

impl Relay for Operated {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        self.inner.offer(caller)
    }

    fn serve(&self, request: Relayed<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        if let Some(settling) = self.settling(&request) {
            let (kept, settled) = (request.keep(), Settled(self.clone()));
            return Some(Box::pin(async move {
                settling.await;
                match kept.serve(&settled) {
                    Some(work) => work.await,
                    None => Reject::internal("the gateway does not serve this").into(),
                }
            }));
        }
        let operation = &self.operation;
        let policy = Arc::clone(&operation.policy.read());
        let mut course = Course::begin(operation, &request);
        let confirm = match course.admit(&policy, &request) {
            Ok(confirm) => confirm,
            Err((outcome, reject)) => {
                course.outcome = outcome;
                course.code = Some(reject.code());
                return Some(Box::pin(std::future::ready(reject.into())));
            }
        };
        let work = match (confirm, operation.bound.get()) {
            (Some(confirm), Some(bound)) => {
                Some(ask::serve(&bound.asking, confirm, &request, &self.inner))
            }
            (Some(_), None) => {
                let said =
                    "a rule asks the user, and this gateway was opened without its operation";
                Some(Box::pin(std::future::ready(Reject::internal(said).into()))
                    as BoxFuture<'static, _>)
            }
            // The rule that asked may be gone by now, and the state is still ours.
            (None, Some(bound)) => match bound.asking.open(&request) {
                Some(round) => {
                    let identity = CallIdentity::of(&request);
                    let kept = request.keep();
                    let (asking, inner) = (&bound.asking, &self.inner);
                    Some(ask::resume(asking, identity, kept, &round, inner))
                }
                None => self.inner.serve(request),
            },
            (None, None) => self.inner.serve(request),
        };
        let Some(work) = work else {
            // The server has its own answer.
            course.outcome = "ok";
            return None;
        };
        Some(Box::pin(async move {
            let mut reply = work.await;
            if let RelayReply::Result(result) = &mut reply
                && !policy.is_empty()
                && let Some(list) = list_filter::filtered(
                    &policy,
                    &course.about.caller,
                    course.operation.directory(&policy),
                    course.about.method,
                    result,
                )
            {
                *result = list;
            }
            course.end(&reply);
            reply
        }))
    }

    fn listen(&self, request: &Relayed<'_>, wanted: &SubscriptionFilter) -> RelayListen {
        let policy = Arc::clone(&self.operation.policy.read());
        let mut wanted = wanted.clone();
        if let Some(uris) = &mut wanted.resource_subscriptions {
            let directory = self.operation.directory(&policy);
            let is_settling =
                directory.is_some_and(|directory| directory.settling(request.caller()).is_some());
            uris.retain(|uri| {
                let is_known = || {
                    let facts = directory?.facts(request.caller(), EntryKind::Resource, uri);
                    facts.map(|_| ())
                };
                // A rule that needs to know its server cannot be asked yet.
                if is_settling && is_known().is_none() {
                    return false;
                }
                let subject = Subject::entry(request.caller(), EntryKind::Resource, uri, directory);
                let subject = subject.called("subscriptions/listen", None);
                policy.judge(&subject, Moment::Call) == Verdict::Allow
            });
        }
        self.inner.listen(request, &wanted)
    }

    fn listen_tasks(&self, request: &Relayed<'_>, ids: &[String]) -> Option<RelayTasks> {
        // A task belongs to the caller that was allowed to begin it.
        self.inner.listen_tasks(request, ids)
    }

    fn param_headers(&self, caller: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.inner.param_headers(caller, tool)
    }

    fn log_level(&self, front: &Front, level: LoggingLevel) {
        self.inner.log_level(front, level);
    }
}

/// One request from its beginning to its end, which is written down when it is dropped.
struct Course {
    operation: Arc<Operation>,
    about: About,
    revision: Revision,
    trace: Option<String>,
    began: Instant,
    running: Option<Running>,
    /// The rule that denied it.
    reason: Option<String>,
    outcome: &'static str,
    code: Option<i64>,
    bytes: Option<usize>,
}

impl Course {
    fn begin(operation: &Arc<Operation>, request: &Relayed<'_>) -> Self {
        operation.metrics.began();
        let is_logged = operation.log.is_some();
        let trace = is_logged.then(|| trace_of(request)).flatten();
        Self {
            operation: Arc::clone(operation),
            about: About::new(request),
            revision: request.revision(),
            trace,
            began: Instant::now(),
            running: None,
            reason: None,
            outcome: "cancelled",
            code: None,
            bytes: None,
        }
    }

    /// Decides about the request. Gives what the user has to be asked, if there is something.
    fn admit(
        &mut self,
        policy: &Policy,
        request: &Relayed<'_>,
    ) -> Result<Option<Confirm>, (&'static str, Reject)> {
        let caller = &self.about.caller;
        // Lists are cheap, and a client reads them before its first call.
        let Some((kind, name)) = &self.about.subject else {
            return Ok(None);
        };
        let mut confirm = None;
        if !policy.is_empty() {
            let directory = self.operation.directory(policy);
            let subject = Subject::entry(caller, *kind, name, directory);
            let arguments = match directory {
                Some(_) => request.members().get("arguments"),
                None => None,
            };
            let subject = subject.called(request.method(), arguments);
            match policy.judge(&subject, Moment::Call) {
                Verdict::Allow => {}
                Verdict::Deny(rule) => {
                    tracing::info!(caller = caller.id(), name, rule, "denied a request");
                    let reject = absent(*kind, name);
                    self.reason = Some(rule);
                    return Err(("denied", reject));
                }
                Verdict::Ask(rule) => {
                    tracing::info!(caller = caller.id(), name, rule, "asking before a call");
                    confirm = Some(Confirm::new(&subject));
                }
            }
        }
        let entered = self.operation.uses.enter(policy, caller.id(), self.began);
        self.running = entered.map_err(|too_much| ("limited", limited(too_much)))?;
        Ok(confirm)
    }

    fn end(&mut self, reply: &RelayReply) {
        match reply {
            RelayReply::Result(result) => {
                self.bytes = Some(result.len());
                let is_failed = self.about.method == "tools/call" && is_tool_error(result);
                self.outcome = if is_failed { "tool_error" } else { "ok" };
            }
            RelayReply::Error(code, _) => self.fail(*code),
            RelayReply::Reject(reject) => self.fail(reject.code()),
            _ => self.outcome = "ok",
        }
    }

    fn fail(&mut self, code: i64) {
        self.outcome = "error";
        self.code = Some(code);
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let metrics = &self.operation.metrics;
        metrics.ended();
        metrics.request(self.about.method, self.outcome, took);
        if let Some(recorder) = &self.operation.recorder
            && matches!(self.outcome, "denied" | "limited")
        {
            let reason = self.reason.as_deref().unwrap_or("too many requests");
            let name = self.about.name().unwrap_or(self.about.method);
            recorder.denied(name, self.about.caller.id(), reason.to_owned());
        }
        let Some(log) = &self.operation.log else {
            return;
        };
        log.write(&AccessRecord {
            time: access_log::now(),
            method: self.about.method,
            name: self.about.name().map(without_query),
            caller: self.about.caller.id(),
            reason: self.reason.as_deref(),
            revision: self.revision.as_str(),
            outcome: self.outcome,
            code: self.code,
            milliseconds: milliseconds(took),
            bytes: self.bytes,
            trace: self.trace.as_deref(),
        });
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// A URI may have a secret in its query.
fn without_query(name: &str) -> &str {
    name.split(['?', '#']).next().unwrap_or(name)
}

fn trace_of(request: &Relayed<'_>) -> Option<String> {
    let parent = request.members().get("_meta")?.member("traceparent")?;
    let parent = turnbuckle_protocol::envelope::text_of(parent)?;
    // 00-<trace>-<parent>-<flags>
    Some(parent.split('-').nth(1)?.to_owned())
}

/// What is denied cannot be told from what does not exist.
fn absent(kind: EntryKind, name: &str) -> Reject {
    match kind {
        EntryKind::Tool => Reject::invalid_params(format!("unknown tool `{name}`")),
        EntryKind::Prompt => Reject::invalid_params(format!("unknown prompt `{name}`")),
        EntryKind::Resource => Reject::resource_not_found(name),
    }
}

fn limited(too_much: TooMuch) -> Reject {
    let said = match too_much {
        TooMuch::Often => "too many requests; wait a while and try again",
        TooMuch::AtOnce => "too many requests at once; wait for some to finish",
    };
    Reject::new(code::TOO_MANY_REQUESTS, said)
}

/// Whether a result says that the tool failed. Most results are not read for it.
fn is_tool_error(result: &[u8]) -> bool {
    if memchr::memmem::find(result, b"\"isError\"").is_none() {
        return false;
    }
    let value: Result<&serde_json::value::RawValue, _> = serde_json::from_slice(result);
    value.is_ok_and(|value| {
        let said = Raw::from(value).member("isError");
        said.is_some_and(|said| said.get() == "true")
    })
}
