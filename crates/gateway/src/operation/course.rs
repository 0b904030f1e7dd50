//! One request of a gateway: the decision of the policy, the outcome, and the entries in logs and metrics.

use std::{borrow::Cow, sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use tokio::time::Instant;
use turnbuckle_protocol::{
    Revision,
    envelope::Raw,
    error::{code, name_in_message},
    method::{self, ListKind},
};
use turnbuckle_server::{Reject, RelayReply, RelayedRequest};

use super::{
    AccessRecord, EntryKind, Operation, Policy, access_log,
    ask::Confirm,
    caller_use::{Running, TooMuch},
    policy::Verdict,
    request::{About, readable},
    subject::{Admitted, Judged, Moment, Subject},
};

/// How many characters of the name of an unknown method are logged.
const MAX_LOGGED: usize = 100;

/// How many characters of the name of an entry are logged, and kept with a denial. A caller can send
/// names that are as long as a message may be.
const MAX_LOGGED_NAME: usize = 1_000;

/// One request from beginning to end. It is logged and counted when this is dropped.
pub(super) struct Course {
    pub(super) operation: Arc<Operation>,
    pub(super) about: About,
    /// The name of a method that the protocol does not have, for the log.
    other_method: Option<String>,
    revision: Revision,
    trace: Option<String>,
    began: Instant,
    running: Option<Arc<Running>>,
    /// Whether it was counted against the limits of its caller.
    is_counted: bool,
    /// The entry as rules with expressions have judged it.
    judged: Option<Judged>,
    /// The rule that denied the request.
    reason: Option<String>,
    pub(super) outcome: &'static str,
    code: Option<i64>,
    bytes: Option<usize>,
}

impl Course {
    pub(super) fn begin(operation: &Arc<Operation>, request: &RelayedRequest<'_>) -> Self {
        operation.metrics.began();
        let is_logged = operation.log.is_some();
        let trace = is_logged.then(|| trace_of(request)).flatten();
        let method = request.method();
        let is_other = is_logged && method::find(method).is_none();
        Self {
            operation: Arc::clone(operation),
            about: About::new(request),
            other_method: is_other.then(|| method.chars().take(MAX_LOGGED).collect()),
            revision: request.revision(),
            trace,
            began: Instant::now(),
            running: None,
            is_counted: false,
            judged: None,
            reason: None,
            outcome: "cancelled",
            code: None,
            bytes: None,
        }
    }

    /// Decides about the request. Returns the question for the user, if the user has to be asked.
    pub(super) fn admit(
        &mut self,
        policy: &Policy,
        request: &RelayedRequest<'_>,
    ) -> Result<Option<Confirm>, (&'static str, Reject)> {
        let caller = &self.about.caller;
        // Otherwise the user could be asked about another tool, or other arguments, than the server reads.
        let subject = readable(request, self.about.subject.as_ref());
        let subject = subject.map_err(|reject| ("error", reject))?;
        let Some((kind, name)) = subject else {
            self.admit_method(policy, request)?;
            return Ok(None);
        };
        let mut confirm = None;
        if !policy.is_empty() {
            let directory = self.operation.directory(policy, *kind);
            let facts = directory.and_then(|directory| directory.facts(caller, *kind, name));
            self.judged = directory.map(|_| Judged::new(*kind, name, facts.clone()));
            let subject = Subject::of(caller, *kind, name, facts);
            let is_read = directory.is_some() && policy.reads_arguments();
            let arguments = request.members().get("arguments").filter(|_| is_read);
            let subject = subject.called_with(request.method(), arguments);
            // Otherwise the rules could judge other arguments than the server gets.
            let subject = subject.map_err(|error| {
                let said = format!("the rules of this gateway cannot judge `arguments`: {error}");
                ("error", Reject::invalid_params(said))
            })?;
            match policy.judge(&subject, Moment::Call) {
                // Answer here: a different error from the server would reveal which denied entries exist.
                Verdict::Allow | Verdict::Ask(_)
                    if self.operation.is_unlisted(caller, *kind, name) =>
                {
                    return Err(("error", absent(*kind, name)));
                }
                Verdict::Allow => {}
                Verdict::Deny(rule) => {
                    let logged = shortened(name);
                    tracing::info!(
                        caller = caller.id(),
                        name = logged,
                        rule,
                        "denied a request"
                    );
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
        self.enter(policy, request)?;
        Ok(confirm)
    }

    /// Decides about a request that names no entry.
    fn admit_method(
        &mut self,
        policy: &Policy,
        request: &RelayedRequest<'_>,
    ) -> Result<(), (&'static str, Reject)> {
        let name = request.method();
        let caller = self.about.caller.id();
        // No rule can allow a method that the protocol does not have.
        if method::find(name).is_none() && policy.allows_only_some(caller) {
            tracing::info!(caller, method = shortened(name), "denied a request");
            self.reason = Some("no rule allows it".to_owned());
            return Err(("denied", Reject::method_not_found(name)));
        }
        if is_unlimited(name) {
            return Ok(());
        }
        self.enter(policy, request)
    }

    /// Counts the request against the limits of its caller, only once.
    pub(super) fn enter(
        &mut self,
        policy: &Policy,
        request: &RelayedRequest<'_>,
    ) -> Result<(), (&'static str, Reject)> {
        if std::mem::replace(&mut self.is_counted, true) {
            return Ok(());
        }
        let (caller, uses) = (self.about.caller.id(), &self.operation.uses);
        // A call that waits for answers runs already, and the request with the answers ends it.
        let is_running = policy.concurrency(caller).is_some() && self.operation.continues(request);
        let entered = if is_running {
            let entered = uses.enter_again(policy, caller, self.began);
            entered.map(|()| None)
        } else {
            uses.enter(policy, caller, self.began)
        };
        let running = entered.map_err(|too_much| ("limited", limited(too_much)))?;
        self.running = running.map(Arc::new);
        Ok(())
    }

    /// The decision about the request, for the relay that serves it.
    pub(super) fn admitted(&mut self) -> Admitted {
        Admitted::new(self.judged.take(), self.running.as_ref())
    }

    /// Ends the request with an error.
    pub(super) fn refuse(
        mut self,
        outcome: &'static str,
        reject: Reject,
    ) -> BoxFuture<'static, RelayReply> {
        self.outcome = outcome;
        self.code = Some(reject.code());
        Box::pin(std::future::ready(reject.into()))
    }

    pub(super) fn end(&mut self, reply: &RelayReply) {
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
            recorder.denied(shortened(name), self.about.caller.id(), reason.to_owned());
        }
        let Some(log) = &self.operation.log else {
            return;
        };
        let name = self.about.name().map(without_secrets);
        let name = name.as_deref().map(shortened);
        let name = name.or(self.other_method.as_deref());
        log.write(&AccessRecord {
            time: access_log::now(),
            method: self.about.method,
            name,
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

/// The beginning of a name, for logs.
fn shortened(name: &str) -> &str {
    let end = name.char_indices().nth(MAX_LOGGED_NAME);
    end.map_or(name, |(end, _)| &name[..end])
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Whether requests of this method are not counted. Lists are cheap, and a client reads them before
/// its first call. A client asks for the state of its tasks as often as the server tells it to, and
/// has to be able to cancel them.
fn is_unlimited(method: &str) -> bool {
    let is_about_tasks = matches!(method, "tasks/get" | "tasks/list" | "tasks/cancel");
    is_about_tasks || ListKind::of(method).is_some()
}

/// Removes the query and the user of a URI, which may contain secrets.
fn without_secrets(name: &str) -> Cow<'_, str> {
    let place = name.split(['?', '#']).next().unwrap_or(name);
    let Some((scheme, rest)) = place.split_once("://") else {
        return place.into();
    };
    let end = rest.find(['/', '\\']).unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]).into(),
        None => place.into(),
    }
}

fn trace_of(request: &RelayedRequest<'_>) -> Option<String> {
    let parent = request.members().get("_meta")?.member("traceparent")?;
    let parent = turnbuckle_protocol::envelope::text_of(parent)?;
    // 00-<trace>-<parent>-<flags>
    Some(parent.split('-').nth(1)?.to_owned())
}

/// The error for a tool or prompt (`word`) that this caller does not have. It is the same whether
/// the entry does not exist or a rule denies it.
pub(crate) fn unknown(word: &str, name: &str) -> Reject {
    let name = name_in_message(name);
    Reject::invalid_params(format!("unknown {word} `{name}`"))
}

/// The error for a denied entry. It is the same as for an entry that does not exist.
fn absent(kind: EntryKind, name: &str) -> Reject {
    match kind {
        EntryKind::Tool | EntryKind::Prompt => unknown(kind.as_str(), name),
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

/// Whether a result says that the tool failed. Most results need not be parsed for this.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_long_name_is_logged() {
        let long = "ä".repeat(MAX_LOGGED_NAME + 1);
        assert_eq!(shortened(&long).chars().count(), MAX_LOGGED_NAME);
        assert_eq!(shortened("git_log"), "git_log");
    }

    #[test]
    fn a_logged_uri_has_no_secrets() {
        for (name, logged) in [
            ("https://u:PASS@h/a?key=1#2", "https://h/a"),
            ("res://u:PASS@WORD@h", "res://h"),
            ("file:///home/a@b", "file:///home/a@b"),
            ("git_log", "git_log"),
        ] {
            assert_eq!(without_secrets(name), logged);
        }
    }
}
