//! `tools/call` through the host: lookup, consent, request and audit log.

use std::{future::IntoFuture, time::Duration};

use futures_core::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tokio::time::Instant;
use turnbuckle_client::{CallError, ClientCall, LogStream, Logged, ToolOutput, shared::Arguments};
use turnbuckle_protocol::{
    LoggingLevel, ProgressNotificationParams, error::name_in_message, grammar::is_meta_key,
};

use super::{Host, handle::denial};
use crate::{
    catalog::CatalogTool,
    consent::{Action, ActionKind, AskingServer, Audit, AuditRecord, Permit},
    error::HostError,
    id::{ConversationId, ServerId},
};

/// A call of a tool, made by [`Host::call`] and [`Conversation::call`](crate::Conversation::call).
/// Awaiting it sends the call and returns the [`ToolOutput`].
///
/// The tool is found in the catalog by its name in the host. The policy, and if necessary the user,
/// must allow the call. Then it is sent to the server, which is started if necessary. If the server
/// ends during the call, the call is not repeated, because it may have had effects.
///
/// Questions that the server asks during the call (forms, URLs, sampling) go to the host's user
/// interface and model.
///
/// # Cancel safety
/// Dropping the future cancels the call and notifies the server. If the user is being asked, the
/// question is withdrawn. The audit log records a call that was sent as `cancelled`.
#[must_use = "nothing is sent before it is awaited"]
pub struct HostCall<'a> {
    host: &'a Host,
    name: String,
    arguments: Result<Arguments, serde_json::Error>,
    conversation: Option<ConversationId>,
    deadline: Option<Duration>,
    log_level: Option<LoggingLevel>,
    progress: Option<ProgressListener<'a>>,
    logs: Option<CallLogListener<'a>>,
    meta: Vec<(String, Value)>,
}

type ProgressListener<'a> = Box<dyn FnMut(ProgressNotificationParams) + Send + 'a>;
type CallLogListener<'a> = Box<dyn FnMut(Logged) + Send + 'a>;

impl Host {
    /// Calls a tool by its name in the host, and returns its output when awaited. The arguments are
    /// a struct, a map, pairs of names and values, or JSON; `()` for no arguments. A string, a number
    /// or a boolean is used as the value of the tool's only argument. Use
    /// [`Conversation::call`](crate::Conversation::call) for a call that belongs to a conversation.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use turnbuckle_host::{Host, HostError};
    ///
    /// # async fn run(host: Host) -> Result<(), HostError> {
    /// let output = host
    ///     .call("git__git_log", [("repo_path", ".")])
    ///     .deadline(Duration::from_secs(30))
    ///     .progress(|report| println!("{:?}", report.message))
    ///     .await?
    ///     .ok()?;
    /// println!("{}", output.text());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Nothing was sent unless the error is [`HostError::Call`]. A tool that ran and failed is not
    /// an error here: [`ToolOutput::ok`] turns its output into one.
    ///
    /// - [`HostError::Unknown`]: no server has a tool of this name. The error has the most similar
    ///   name.
    /// - [`HostError::Denied`]: the policy or the user does not allow it.
    /// - [`HostError::Unavailable`]: the server has failed, or could not be started.
    /// - [`HostError::Call`]: the arguments are not an object, the server rejected the request, the
    ///   deadline is over, or the connection was lost.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> HostCall<'_> {
        HostCall::new(self, name.into(), &arguments)
    }
}

impl<'a> HostCall<'a> {
    pub(super) fn new(host: &'a Host, name: String, arguments: &impl Serialize) -> Self {
        Self {
            host,
            name,
            arguments: Arguments::of(arguments),
            conversation: None,
            deadline: None,
            log_level: None,
            progress: None,
            logs: None,
            meta: Vec::new(),
        }
    }

    pub(super) fn in_conversation(mut self, conversation: ConversationId) -> Self {
        self.conversation = Some(conversation);
        self
    }

    /// Sets how long the call may take, counted from the moment it is sent. Overrides the server's
    /// [`call_timeout`](crate::ServerSpec::call_timeout); one minute if neither is set. The time
    /// for asking the user or starting the server is not counted.
    ///
    /// When the time is over, the call fails with [`CallError::Deadline`] and is cancelled at the
    /// server. If [`progress`](Self::progress) is set, each progress notification renews the
    /// deadline.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Requests progress notifications, and calls `listener` with each one before the call returns.
    /// Each notification renews the deadline. Servers need not send any.
    pub fn progress(
        mut self,
        listener: impl FnMut(ProgressNotificationParams) + Send + 'a,
    ) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Requests log messages of this severity and above while the call runs.
    /// [`on_log`](Self::on_log) and [`HostBuilder::on_log`](crate::HostBuilder::on_log) receive
    /// them.
    ///
    /// In the older revisions a session has one level for all its calls: it is lowered to this
    /// level and stays there. A server without the logging capability does not get the request.
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Calls `listener` with each log message of the tool's server while the call runs. This
    /// includes messages about other calls to that server at the same time, also of other
    /// conversations: on a pipe nothing shows which call a message belongs to.
    pub fn on_log(mut self, listener: impl FnMut(Logged) + Send + 'a) -> Self {
        self.logs = Some(Box::new(listener));
        self
    }

    /// Adds a member to the request's `_meta`, for servers that expect one. It does not overwrite
    /// members of the protocol itself. Keys should have a prefix, as in `com.example/order`. If the
    /// specification does not allow the key, the call fails before the user is asked.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.meta.push((key.into(), value.into()));
        self
    }

    async fn run(self) -> Result<ToolOutput, HostError> {
        let inner = &self.host.inner;
        let catalog = inner.catalog();
        let tool = catalog.tool(&self.name).ok_or_else(|| {
            let missing = self.host.why_missing(&self.name);
            missing.unwrap_or_else(|| {
                let names = catalog.tools().iter().map(|tool| tool.name());
                unknown("tool", &self.name, names)
            })
        })?;
        // The policy and the user see what is sent: an object of named arguments.
        let named = self.arguments.and_then(|given| given.for_tool(tool.tool()));
        let mut arguments = named.map_err(|source| CallError::Unwritable {
            method: "tools/call".into(),
            source,
        })?;
        check_meta(&self.meta)?;
        let upstream = self.host.upstream(tool.server())?;
        let asking = AskingServer {
            origin: &upstream.origin,
            conversation: self.conversation,
        };
        let action = Action::Call {
            tool: tool.tool(),
            arguments: arguments.as_deref(),
        };
        let consent = &inner.shared.consent;
        let permitted = consent.permit(asking, action).await;
        let permit = permitted
            .map_err(|denied| denial(tool.server(), ActionKind::Call, &tool.tool().name, denied))?;
        if let Permit::Edited(edited) = permit {
            arguments = Some(edited);
        }
        let connection = self.host.connected(&upstream).await?;
        let mut audited = consent.audit.is_wanted().then(|| {
            AuditedCall::new(
                &consent.audit,
                tool,
                self.conversation,
                arguments.as_deref(),
            )
        });
        let _in_flight = upstream.origin.enter(self.conversation);
        let mut call = connection
            .call(tool.tool().name.as_str(), arguments)
            .tag(ConversationId::tag(self.conversation));
        if let Some(deadline) = self.deadline {
            call = call.deadline(deadline);
        }
        if let Some(level) = self.log_level {
            call = call.log_level(level);
        }
        if let Some(progress) = self.progress {
            call = call.progress(progress);
        }
        for (key, value) in self.meta {
            call = call.meta(key, value);
        }
        let outcome = match self.logs {
            None => call.await,
            Some(listener) => with_logs(call, connection.logs(), listener).await,
        };
        if let Some(audited) = &mut audited {
            audited.outcome = describe(&outcome);
        }
        Ok(outcome?)
    }
}

impl<'a> IntoFuture for HostCall<'a> {
    type Output = Result<ToolOutput, HostError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

/// How many log messages that arrived before the answer are still delivered after it. At most this
/// many wait.
const MAX_LATE_LOGS: usize = 1024;

/// Waits for a call, and delivers the log messages that arrive before its answer.
async fn with_logs(
    call: ClientCall<'_, ToolOutput>,
    mut logs: LogStream,
    mut listener: CallLogListener<'_>,
) -> Result<ToolOutput, CallError> {
    let mut call = call.into_future();
    let outcome = loop {
        tokio::select! {
            // A server that floods its log must not delay the answer or the deadline.
            biased;
            outcome = &mut call => break outcome,
            Some(logged) = logs.next() => listener(logged),
        }
    };
    // When the answer is here, messages that were sent before it have arrived too.
    for _ in 0..MAX_LATE_LOGS {
        tokio::select! {
            biased;
            Some(logged) = logs.next() => listener(logged),
            () = std::future::ready(()) => break,
        }
    }
    outcome
}

/// basic, `_meta`: keys must follow a grammar. Checked before the user is asked about the call.
fn check_meta(meta: &[(String, Value)]) -> Result<(), CallError> {
    let Some((key, _)) = meta.iter().find(|(key, _)| !is_meta_key(key)) else {
        return Ok(());
    };
    let reason = format!(
        "`{}` is not a valid key of `_meta`: use an optional prefix such as `com.example/` and a \
         name of letters, digits, `-`, `_` and `.`",
        name_in_message(key)
    );
    Err(CallError::Unwritable {
        method: "tools/call".into(),
        source: serde::ser::Error::custom(reason),
    })
}

pub(super) fn unknown<'n>(
    kind: &'static str,
    name: &str,
    known: impl Iterator<Item = &'n str>,
) -> HostError {
    HostError::Unknown {
        kind,
        name: name.to_owned(),
        nearest: turnbuckle_schema::nearest_name(name, known).map(str::to_owned),
    }
}

fn describe(outcome: &Result<ToolOutput, CallError>) -> &'static str {
    match outcome {
        Ok(output) if output.is_error() => "tool error",
        Ok(_) => "done",
        Err(CallError::Rejected { .. }) => "rejected",
        Err(CallError::Deadline { .. }) => "timed out",
        Err(CallError::Closed { .. } | CallError::Lost { .. }) => "connection lost",
        Err(_) => "failed",
    }
}

/// Writes a call to the audit log when it ends, also when it is dropped.
struct AuditedCall<'a> {
    audit: &'a Audit,
    began: Instant,
    record: AuditRecord,
    outcome: &'static str,
}

impl<'a> AuditedCall<'a> {
    fn new(
        audit: &'a Audit,
        tool: &CatalogTool,
        conversation: Option<ConversationId>,
        arguments: Option<&RawValue>,
    ) -> Self {
        let server: &ServerId = tool.server();
        let record = AuditRecord::new("call", server, ActionKind::Call.as_str())
            .in_conversation(conversation)
            .about(tool.tool().name.as_str())
            .naming(arguments);
        Self {
            audit,
            began: Instant::now(),
            record,
            outcome: "cancelled",
        }
    }
}

impl Drop for AuditedCall<'_> {
    fn drop(&mut self) {
        let record = self.record.clone().took(self.began.elapsed());
        self.audit.write(&record.ended(self.outcome));
    }
}
