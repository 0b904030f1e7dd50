//! `Log`: sends log messages of handlers to clients.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{LoggingLevel, LoggingMessageNotificationParams, Meta, envelope};
use turnbuckle_transport::{Pacer, TrySendError};

use crate::{
    Call, Extract, Failure,
    client::{CancelFlag, Peer},
    handler::{Description, TaskChannel},
};

/// The maximum size of a log message, in bytes. Larger texts belong in a resource.
const MAX_BYTES: usize = 64 * 1024;

/// The logger of the messages that report dropped messages.
const OWN_LOGGER: &str = "turnbuckle";

/// Sends log messages to a client that asked for them. If the client did not ask, a message costs
/// almost nothing. The messages are for the client's user; use `tracing` for the log of your
/// server.
///
/// A message may be any JSON. It is sent if it is at least as severe as the level that the client
/// wants. A session sets its level with `logging/setLevel`; before that,
/// [`Server::default_log_level`](crate::Server::default_log_level) applies. A request of 2026-07-28
/// sets its own level in its `_meta`, and gets no messages if it does not. Nothing is sent after
/// the call has ended.
///
/// Sending never waits. Messages are dropped while the client does not read, if they are longer
/// than 64 KiB, and beyond [`Rates::log_messages`](crate::Rates::log_messages). The client gets the
/// number of dropped messages with the next message or at the end of the call.
///
/// ```
/// use turnbuckle_server::Log;
///
/// async fn import(log: Log) -> &'static str {
///     log.info("reading the file");
///     log.named("database").warning(serde_json::json!({ "slow": "INSERT", "ms": 812 }));
///     "done"
/// }
/// ```
///
/// Do not log secrets: the client's user, and perhaps a model, will read them.
#[derive(Clone)]
pub struct Log {
    sender: Option<Arc<Sender>>,
    /// Where messages are recorded in a test without a connection.
    record: Option<LogRecord>,
    logger: Option<Arc<str>>,
}

/// The messages of a [recorded](Log::recorded) log. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct LogRecord(Arc<Mutex<Vec<LoggingMessageNotificationParams>>>);

impl LogRecord {
    /// Returns all messages so far, of every severity.
    pub fn messages(&self) -> Vec<LoggingMessageNotificationParams> {
        self.0.lock().clone()
    }
}

struct Sender {
    peer: Arc<Peer>,
    call: CancelFlag,
    wanted: WantedLevel,
    /// Set for a call that is or may become a task.
    channel: Option<Arc<TaskChannel>>,
    lost: AtomicU64,
    pacer: Pacer,
}

/// Who decides how severe a message must be.
enum WantedLevel {
    /// The request, for itself.
    From(LoggingLevel),
    /// The session, which can change its level at any time. This is the default level.
    BySession(Option<LoggingLevel>),
}

#[derive(Serialize)]
struct LogMessage<'a, D> {
    level: LoggingLevel,
    #[serde(skip_serializing_if = "Option::is_none")]
    logger: Option<&'a str>,
    data: D,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

impl Log {
    /// Returns the log of a call, for layers. Declare that they send log messages with
    /// [`Server::logging`](crate::Server::logging); without that, nothing is sent.
    pub fn of(call: &Call<'_>) -> Self {
        Self::offered(call, call.context.logging.is_made())
    }

    fn offered(call: &Call<'_>, is_offered: bool) -> Self {
        // logging: servers that send log messages MUST declare it.
        let sender = is_offered.then(|| Sender::of(call)).flatten();
        Self {
            sender: sender.map(Arc::new),
            record: None,
            logger: None,
        }
    }

    /// Creates a log that discards its messages, for tests that call a handler as a function.
    /// [`recorded`](Self::recorded) keeps the messages.
    pub fn discarded() -> Self {
        Self {
            sender: None,
            record: None,
            logger: None,
        }
    }

    /// Creates a log that records its messages, without a connection: for tests that call a handler
    /// as a function.
    ///
    /// ```
    /// let (log, record) = turnbuckle_server::Log::recorded();
    /// log.info("reading the file");
    /// assert_eq!(record.messages()[0].data, "reading the file");
    /// ```
    pub fn recorded() -> (Self, LogRecord) {
        let record = LogRecord::default();
        let log = Self {
            record: Some(record.clone()),
            ..Self::discarded()
        };
        (log, record)
    }

    /// Returns the same log with the name of a part of the server, which clients see as `logger`.
    pub fn named(&self, logger: impl Into<Arc<str>>) -> Self {
        Self {
            sender: self.sender.clone(),
            record: self.record.clone(),
            logger: Some(logger.into()),
        }
    }

    /// Whether a message of this severity would be sent. Check it before you compute something only
    /// for the message.
    pub fn is_wanted(&self, level: LoggingLevel) -> bool {
        let sender = self.sender.as_ref();
        self.record.is_some() || sender.is_some_and(|sender| sender.wants(level))
    }

    /// Sends a message of this severity, if the client wants it. The data can be anything that
    /// serializes to JSON. The methods below do the same for one severity each.
    pub fn say(&self, level: LoggingLevel, data: impl Serialize) {
        self.say_as(self.logger.as_deref(), level, data);
    }

    pub(super) fn say_as(&self, logger: Option<&str>, level: LoggingLevel, data: impl Serialize) {
        if let Some(record) = &self.record {
            let data = serde_json::to_value(&data).unwrap_or_default();
            let mut message = LoggingMessageNotificationParams::new(level, data);
            message.logger = logger.map(str::to_owned);
            record.0.lock().push(message);
        }
        let wanted = self.sender.as_ref().filter(|sender| sender.wants(level));
        if let Some(sender) = wanted {
            sender.send(&LogMessage {
                level,
                logger,
                data,
                meta: sender.meta(),
            });
        }
    }

    /// Sends a message for debugging, the least severe.
    pub fn debug(&self, data: impl Serialize) {
        self.say(LoggingLevel::Debug, data);
    }

    /// Sends a message about normal operation.
    pub fn info(&self, data: impl Serialize) {
        self.say(LoggingLevel::Info, data);
    }

    /// Sends a message about something normal but significant.
    pub fn notice(&self, data: impl Serialize) {
        self.say(LoggingLevel::Notice, data);
    }

    /// Sends a message about something that may be wrong.
    pub fn warning(&self, data: impl Serialize) {
        self.say(LoggingLevel::Warning, data);
    }

    /// Sends a message about something that failed. Return an error instead if it ends the call.
    pub fn error(&self, data: impl Serialize) {
        self.say(LoggingLevel::Error, data);
    }

    /// Sends a message about the failure of an important part.
    pub fn critical(&self, data: impl Serialize) {
        self.say(LoggingLevel::Critical, data);
    }

    /// Sends a message about something that requires action immediately.
    pub fn alert(&self, data: impl Serialize) {
        self.say(LoggingLevel::Alert, data);
    }

    /// Sends a message that the system is unusable, the most severe.
    pub fn emergency(&self, data: impl Serialize) {
        self.say(LoggingLevel::Emergency, data);
    }

    /// Whether messages could be sent now or later.
    pub(super) fn is_open(&self) -> bool {
        self.sender.is_some()
    }
}

/// Dropped when the handler has ended, before the call's answer is sent: this is the last time to
/// report dropped messages.
impl Drop for Sender {
    fn drop(&mut self) {
        self.report_loss();
    }
}

impl Sender {
    fn of(call: &Call<'_>) -> Option<Self> {
        let wanted = if call.origin.revision.is_modern() {
            // A level that cannot be parsed was rejected with the request before.
            let level = call.request_meta().log_level?;
            WantedLevel::From(serde_json::from_str(level.get()).ok()?)
        } else {
            WantedLevel::BySession(call.context.default_log_level)
        };
        Some(Self {
            peer: Arc::clone(&call.origin.peer),
            call: call.cancel_flag(),
            wanted,
            channel: call.task.clone(),
            lost: AtomicU64::new(0),
            pacer: Pacer::new(call.context.log_rate),
        })
    }

    /// The least severe level that the client wants.
    fn mildest(&self) -> Option<LoggingLevel> {
        match self.wanted {
            WantedLevel::From(mildest) => Some(mildest),
            WantedLevel::BySession(default) => self.peer.log_level().or(default),
        }
    }

    fn wants(&self, level: LoggingLevel) -> bool {
        let mildest = self.mildest();
        // logging: messages of a request come before its response.
        mildest.is_some_and(|mildest| level >= mildest) && self.call.is_open() && !self.is_mute()
    }

    /// The channel of the task that the call has become, if it is a task.
    fn task(&self) -> Option<&TaskChannel> {
        let channel = self.channel.as_deref();
        channel.filter(|channel| channel.takes_questions())
    }

    /// The tasks extension: there MUST be no log messages for tasks.
    fn is_mute(&self) -> bool {
        matches!(self.wanted, WantedLevel::From(_)) && self.task().is_some()
    }

    /// tasks: all notifications of a task MUST name it.
    fn meta(&self) -> Option<Meta> {
        let task = self.task()?.task()?;
        Some(Meta::new().with_related_task(task))
    }

    fn send<D: Serialize>(&self, message: &LogMessage<'_, D>) {
        // logging: servers SHOULD limit the rate.
        if !self.pacer.take(Instant::now()) {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let mut line = Vec::new();
        let method = "notifications/message";
        if let Err(error) = envelope::write_notification(&mut line, method, message) {
            tracing::error!(%error, "a log message cannot be written as JSON");
            return;
        }
        if line.len() > MAX_BYTES {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.report_loss();
        if self.put(&line) == Err(TrySendError::Full) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reports how many messages were dropped, if there are any and if there is space for the
    /// report.
    fn report_loss(&self) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost == 0 {
            return;
        }
        // To a client that wants only errors, the report is sent as an error, because it has lost
        // errors.
        let mildest = self.mildest().unwrap_or(LoggingLevel::Warning);
        let level = mildest.max(LoggingLevel::Warning);
        let message = LogMessage {
            level,
            logger: Some(OWN_LOGGER),
            data: json!({ "message": "log messages were dropped", "dropped": lost }),
            meta: self.meta(),
        };
        let mut line = Vec::new();
        let written = envelope::write_notification(&mut line, "notifications/message", &message);
        let is_told =
            written.is_ok() && self.wants(level) && self.put(&line) != Err(TrySendError::Full);
        if !is_told {
            self.lost.fetch_add(lost, Ordering::Relaxed);
        }
    }

    fn put(&self, line: &[u8]) -> Result<(), TrySendError> {
        // The request that began the task has been answered already, so the session's outbox is
        // used.
        let standing = self.task().and_then(|_| self.peer.standing());
        let outbox = standing.as_ref().unwrap_or(self.peer.outbox());
        outbox.try_send_with(|out| out.extend_from_slice(line))
    }
}

impl Extract for Log {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        // A caller of this handler sees the handler, so the logging capability was declared to it.
        Ok(Self::offered(call, call.context.logging.is_made_to_some()))
    }

    fn describe(description: &mut Description) {
        description.logs = true;
    }
}
