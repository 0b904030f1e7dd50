//! The audit log: calls, decisions and answers, without secrets.
//!
//! It contains the names of arguments and fields but not their values, the host of a URL but not
//! the rest, and the kind of an error but not its text.

use std::{
    fmt,
    fs::File,
    io::{self, Write},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_base::{lock::Mutex, private};

use crate::{
    clock::rfc3339,
    id::{ConversationId, ServerId},
};

/// How many names of arguments one record contains.
const MAX_NAMES: usize = 64;

/// One record of the audit log: an action, the decision about it, and its outcome. It is serialised
/// as one line of JSON; fields without a value are left out.
///
/// It never contains values of arguments and forms, queries of URLs or texts of errors.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The time in UTC, as RFC 3339 text.
    pub at: String,
    /// The kind of event: `call` (a tool call ended), `decision` (an action was allowed or denied),
    /// `answer` (the user answered a form or a request to visit a URL, or edited a message), or
    /// `state` (the state of a server changed).
    pub event: &'static str,
    /// The server, by the id that the host gave it.
    pub server: String,
    /// The number of the conversation, if any. Each process numbers its conversations from the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<u64>,
    /// The kind of action, as [`ActionKind::as_str`](crate::ActionKind::as_str) writes it: `start`,
    /// `call`, `form`, …
    pub action: &'static str,
    /// The subject: a tool, a URI without its query, a host. Empty if the action has no subject.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// The names of the arguments, at most 64, or of the form's fields. Their values are never recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// The outcome: `allowed` or `denied` for a decision; `accepted`, `declined`, `cancelled` or
    /// `edited` for an answer; `done`, `tool error`, `rejected`, `timed out`, `connection lost`,
    /// `cancelled` or `failed` for a call; the new state for a server.
    pub outcome: &'static str,
    /// Who decided: `policy`, `grant`, `file` (a config file whose approvals are trusted), `user`,
    /// or `none` if there is no user interface to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// For how long the user allowed it: `once`, `conversation` or `always`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<&'static str>,
    /// How long a call took, in milliseconds, measured from when it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

impl AuditRecord {
    pub(crate) fn new(event: &'static str, server: &ServerId, action: &'static str) -> Self {
        Self {
            at: rfc3339(SystemTime::now()),
            event,
            server: server.as_str().to_owned(),
            conversation: None,
            action,
            subject: String::new(),
            names: Vec::new(),
            outcome: "",
            by: None,
            scope: None,
            ms: None,
        }
    }

    pub(crate) fn in_conversation(mut self, conversation: Option<ConversationId>) -> Self {
        self.conversation = conversation.map(ConversationId::number);
        self
    }

    pub(crate) fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    pub(crate) fn naming(mut self, arguments: Option<&RawValue>) -> Self {
        self.names = arguments.map(names).unwrap_or_default();
        self
    }

    pub(crate) fn took(mut self, time: Duration) -> Self {
        self.ms = u64::try_from(time.as_millis()).ok();
        self
    }

    pub(crate) fn ended(mut self, outcome: &'static str) -> Self {
        self.outcome = outcome;
        self
    }
}

/// The names of the members of an object.
fn names(arguments: &RawValue) -> Vec<String> {
    let parsed = serde_json::from_str::<indexmap::IndexMap<String, &RawValue>>(arguments.get());
    let mut names: Vec<String> = parsed.unwrap_or_default().into_keys().collect();
    names.truncate(MAX_NAMES);
    names
}

/// The destination of the audit log: a file or a function. Give it to
/// [`HostBuilder::audit`](crate::HostBuilder::audit).
///
/// It gets an [`AuditRecord`] for each call, each decision, each answer of the user and each change
/// of a server's state.
pub struct Audit {
    sink: Sink,
}

type Listener = Box<dyn Fn(&AuditRecord) + Send + Sync>;

enum Sink {
    Nowhere,
    File(Mutex<File>, AtomicBool),
    Listener(Listener),
}

impl Audit {
    /// No audit log.
    pub(crate) fn nowhere() -> Self {
        Self {
            sink: Sink::Nowhere,
        }
    }

    /// Appends to a file, one line of JSON for each record. The file is created if it does not
    /// exist; on Unix only its owner may read it. Several programs may append to one file. It is
    /// not rotated.
    ///
    /// Records are written immediately. A later write that fails is logged once and does not fail
    /// the call.
    ///
    /// # Errors
    /// If the file cannot be opened or created, for example because its folder does not exist.
    pub fn file(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = private::options().append(true).create(true).open(path)?;
        let file = Mutex::new(file);
        Ok(Self {
            sink: Sink::File(file, AtomicBool::new(false)),
        })
    }

    /// Calls a function with each record, for example to send it to a log service. The function
    /// runs within the recorded call, so it must not block.
    ///
    /// ```
    /// use turnbuckle_host::{Audit, Host};
    ///
    /// let audit = Audit::from_fn(|record| println!("{record:?}"));
    /// let builder = Host::builder("my-app", "1.0.0").audit(audit);
    /// # drop(builder);
    /// ```
    pub fn from_fn(listener: impl Fn(&AuditRecord) + Send + Sync + 'static) -> Self {
        Self {
            sink: Sink::Listener(Box::new(listener)),
        }
    }

    /// Whether records are kept. Callers check this first, because making a record takes time.
    pub(crate) fn is_wanted(&self) -> bool {
        !matches!(self.sink, Sink::Nowhere)
    }

    pub(crate) fn write(&self, record: &AuditRecord) {
        match &self.sink {
            Sink::Nowhere => {}
            Sink::Listener(listener) => listener(record),
            Sink::File(file, has_failed) => {
                let Ok(mut line) = serde_json::to_vec(record) else {
                    return;
                };
                line.push(b'\n');
                // One write for each line, so that lines of several programs do not mix in the file.
                if let Err(error) = file.lock().write_all(&line)
                    && !has_failed.swap(true, Ordering::Relaxed)
                {
                    tracing::error!(%error, "cannot write to the audit log");
                }
            }
        }
    }
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.sink {
            Sink::Nowhere => "Audit(nowhere)",
            Sink::File(..) => "Audit(file)",
            Sink::Listener(_) => "Audit(listener)",
        })
    }
}
