//! `ClientCall`: the builder of a call.

use std::{borrow::Cow, future::IntoFuture, time::Duration};

use futures_core::future::BoxFuture;
use serde_json::{Value, value::RawValue};
use turnbuckle_protocol::{LoggingLevel, Meta, ProgressNotificationParams, grammar::is_meta_key};

use super::{AnswerReader, Parsed};
use crate::{
    cache::Freshness,
    connection::Connection,
    error::CallError,
    link::{Canceller, LateProgress, Link, in_span, span},
};

/// A request to a server. It is sent when it is awaited, and returns the result `R`.
///
/// ```no_run
/// # use std::time::Duration;
/// # use serde_json::json;
/// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
/// let mut last = 0.0;
/// let output = server
///     .call("convert", json!({ "file": "a.mov" }))
///     .progress(|report| last = report.progress)
///     .deadline(Duration::from_secs(300))
///     .await?;
/// # Ok(()) }
/// ```
///
/// The deadline is one minute unless it is set here or with
/// [`Client::deadline`](crate::Client::deadline). If the server asks for input in the middle of the
/// call, the handlers in the client's [`Answers`](crate::Answers) answer.
///
/// # Errors
/// Awaiting it fails with [`CallError`], which says whether the request was sent.
///
/// # Cancel safety
/// Dropping the future cancels the call and tells the server. Effects that the call already had are not
/// undone.
#[must_use = "nothing is sent before it is awaited"]
pub struct ClientCall<'a, R> {
    pub(crate) link: &'a Link,
    /// Set for calls that can become a task, because the task outlives the call.
    pub(crate) connection: Option<&'a Connection>,
    pub(crate) method: Cow<'static, str>,
    /// The params, or an error in them. The error is returned when the call is awaited, as all others
    /// are.
    pub(super) body: Result<Body, CallError>,
    pub(crate) read: Reader<R>,
    pub(super) check: Check,
    pub(crate) options: CallOptions<'a>,
}

/// The options of a call.
#[derive(Default)]
pub(crate) struct CallOptions<'a> {
    pub(crate) deadline: Option<Duration>,
    pub(crate) progress: Option<ProgressListener<'a>>,
    pub(crate) meta: Option<Meta>,
    pub(super) log_level: Option<LoggingLevel>,
    pub(super) freshness: Freshness,
    /// The canceller, if any.
    pub(crate) canceller: Option<Canceller>,
    /// Distinguishes the questions of this call from those of other calls.
    pub(super) tag: Option<u64>,
    /// Whether progress reports may still come after the call has become a task.
    pub(super) keeps_token: bool,
    /// The receiver of these later reports.
    pub(super) late_progress: Option<Box<LateProgress>>,
}

/// Converts an answer to a value.
pub(crate) type Reader<R> = fn(&AnswerReader<'_>, Box<RawValue>) -> Result<Parsed<R>, CallError>;

pub(crate) type ProgressListener<'a> = Box<dyn FnMut(ProgressNotificationParams) + Send + 'a>;

/// The checks that are made before anything is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Whether the server offers the method.
    Offered,
    /// No check.
    Skip,
}

/// The content of a call.
pub(crate) enum Body {
    /// Params that are sent once, as they are.
    Plain(Option<Box<RawValue>>),
    /// A request during which the server may ask.
    Subject(Subject),
}

/// The subject of a request during which the server may ask.
#[derive(Clone, Default)]
pub(crate) struct Subject {
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) arguments: Option<Box<RawValue>>,
    /// A value that is the only argument, whose name is looked up in the tool's schema.
    pub(super) plain: Option<Box<RawValue>>,
}

impl Body {
    /// Returns the subject, or an empty one for a request without a subject.
    pub(crate) fn into_subject(self) -> Subject {
        match self {
            Self::Subject(subject) => subject,
            Self::Plain(_) => Subject::default(),
        }
    }
}

impl Subject {
    /// Creates the subject of a tool or a prompt with its arguments.
    pub(super) fn named(name: String, arguments: Option<Box<RawValue>>) -> Self {
        Self {
            name: Some(name),
            arguments,
            ..Self::default()
        }
    }

    /// Creates the subject of a tool with its only argument.
    pub(super) fn with_plain(name: String, plain: Box<RawValue>) -> Self {
        Self {
            name: Some(name),
            plain: Some(plain),
            ..Self::default()
        }
    }

    /// The name of a tool or a prompt, or the URI of a resource.
    pub(crate) fn text(&self) -> &str {
        self.name
            .as_deref()
            .or(self.uri.as_deref())
            .unwrap_or_default()
    }
}

impl<'a, R> ClientCall<'a, R> {
    pub(super) fn new(
        link: &'a Link,
        method: impl Into<Cow<'static, str>>,
        body: Result<Body, CallError>,
        read: Reader<R>,
    ) -> Self {
        Self {
            link,
            connection: None,
            method: method.into(),
            body,
            read,
            check: Check::Offered,
            options: CallOptions::default(),
        }
    }

    /// Takes the content out of the call.
    pub(crate) fn take_body(&mut self) -> Result<Body, CallError> {
        std::mem::replace(&mut self.body, Ok(Body::Plain(None)))
    }

    fn span(&self) -> tracing::Span {
        let subject = match &self.body {
            Ok(Body::Subject(subject)) => subject.text(),
            _ => "",
        };
        span(self.link.revision(), &self.method, subject)
    }

    /// Sets the caller's members of `_meta`, and checks their keys.
    pub(super) fn with_meta(mut self, meta: Option<Meta>) -> Self {
        if let Err(error) = CallError::check_meta(&self.method, meta.as_ref()) {
            self.body = Err(error);
        }
        self.with_meta_as_it_is(meta)
    }

    /// Sets the caller's members of `_meta` without checks, for a request that is sent as it was
    /// written.
    pub(super) fn with_meta_as_it_is(mut self, meta: Option<Meta>) -> Self {
        self.options.meta = meta;
        self
    }

    /// Skips the check whether the server offers the method; the server will answer that itself.
    pub(super) fn unchecked(mut self) -> Self {
        self.check = Check::Skip;
        self
    }

    /// Allows the answer to be cached for as long as the server allows.
    pub(super) fn cached(mut self) -> Self {
        self.options.freshness = Freshness::Allowed(None);
        self
    }

    /// Asks for progress notifications, and calls `listener` with each, on the caller's own task and
    /// before the result. A listener that is slower than the server gets only the newest reports.
    ///
    /// Each report renews the deadline.
    pub fn progress(
        mut self,
        listener: impl FnMut(ProgressNotificationParams) + Send + 'a,
    ) -> Self {
        self.options.progress = Some(Box::new(listener));
        self
    }

    /// Sets the deadline. When it passes, the call fails with [`CallError::Deadline`] and is cancelled
    /// at the server. Progress notifications that were asked for renew it, up to the [longest
    /// time](crate::Client::longest_call) of a call. It is paused while the server waits for an answer
    /// from the client.
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.options.deadline = Some(deadline);
        self
    }

    /// Lets another task cancel the call, with a reason for the server. The call then ends with
    /// [`CallError::Cancelled`]. Dropping the future cancels it too, without a reason.
    pub fn cancel_with(mut self, canceller: &Canceller) -> Self {
        self.options.canceller = Some(canceller.clone());
        self
    }

    /// Sets a number by which the application identifies the call. Questions that are known to
    /// belong to the call carry it as [`ServerAsk::tag`](crate::ServerAsk::tag).
    pub fn tag(mut self, tag: u64) -> Self {
        self.options.tag = Some(tag);
        self
    }

    /// Bypasses the cache: asks the server, and stores the new result. It matters for reads and
    /// lists; calls of tools are never cached. See [`Cache`](crate::Cache).
    pub fn fresh(mut self) -> Self {
        self.options.freshness = self.options.freshness.fresh();
        self
    }

    /// Accepts a cached result that expired at most this long ago if the server cannot be reached.
    /// See [`Cache::stale_on_error`](crate::Cache::stale_on_error).
    pub fn stale_on_error(mut self, at_most: Duration) -> Self {
        self.options.freshness = self.options.freshness.stale_on_error(at_most);
        self
    }

    /// Asks for log messages of this severity and above while the call runs. [`Connection::logs`]
    /// receives them.
    ///
    /// A session has one level for all calls: it is lowered to this one, and stays there after the
    /// call. Nothing is asked of a server without the logging capability.
    ///
    /// [`Connection::logs`]: crate::Connection::logs
    pub fn log_level(mut self, level: LoggingLevel) -> Self {
        self.options.log_level = Some(level);
        self
    }

    /// Adds a member to the request's `_meta`. Members of the protocol itself are not overwritten;
    /// the current trace context is added automatically.
    ///
    /// Use a prefix of your own, as in `com.example/order`. With a key that the specification does
    /// not allow the call fails with [`CallError::Unwritable`], and nothing is sent.
    pub fn meta(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        let key = key.into();
        if !is_meta_key(&key) {
            self.body = Err(CallError::invalid_meta_key(&self.method, &key));
        }
        self.options
            .meta
            .get_or_insert_default()
            .0
            .insert(key, value.into());
        self
    }
}

impl<'a, R: Send + 'a> IntoFuture for ClientCall<'a, R> {
    type Output = Result<R, CallError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        if turnbuckle_telemetry::are_spans_wanted() {
            // The span is made when the call is first polled, so that its parent is the span in which
            // it runs.
            return Box::pin(async move { in_span(self.span(), self.run_or_cancel()).await });
        }
        Box::pin(self.run_or_cancel())
    }
}
