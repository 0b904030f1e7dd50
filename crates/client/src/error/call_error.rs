//! `CallError`: why a call failed.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use turnbuckle_protocol::{
    ErrorObject, InputRequiredResult, Meta, Revision, error::name_in_message, revision::Raise,
};
use turnbuckle_session::requests::Overdue;

use super::Ending;

/// Why a call failed.
///
/// Match on the variant to decide what to do next:
///
/// | variant | what to do |
/// |---|---|
/// | [`Rejected`](Self::Rejected), [`NotOffered`](Self::NotOffered), [`Unwritable`](Self::Unwritable) | change the request |
/// | [`Deadline`](Self::Deadline) | allow more time, or use a task |
/// | [`Busy`](Self::Busy), [`Unsent`](Self::Unsent), [`Status`](Self::Status) | try again later; the call did not run, except perhaps for `Status` |
/// | [`Closed`](Self::Closed) | connect again; the call may have run |
/// | [`Lost`](Self::Lost), [`SessionExpired`](Self::SessionExpired) | the call may have run: repeat it only if that does no harm |
/// | [`Unauthorized`](Self::Unauthorized), [`Authorization`](Self::Authorization) | sign in |
/// | [`InputRequired`](Self::InputRequired) | set a handler, or answer [by hand](crate::Connection::by_hand) |
/// | [`Malformed`](Self::Malformed), [`OutputMismatch`](Self::OutputMismatch), [`EndlessList`](Self::EndlessList) | report a fault of the server |
///
/// A tool that ran and failed is not an error but a result; see
/// [`ToolOutput::ok`](crate::ToolOutput::ok).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error, such as an unknown tool, invalid arguments or a missing
    /// resource. Change the request. [`rejection`](Self::rejection) returns the error object.
    #[error("server `{server}` rejected `{method}`: {error}")]
    Rejected {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// Code, message and data.
        error: Box<ErrorObject>,
    },
    /// The tool ran and failed. The text says why, and can be shown to a model.
    ///
    /// Only [`ToolOutput::parse`](crate::ToolOutput::parse) and
    /// [`ToolOutput::ok`](crate::ToolOutput::ok) return this error: the call itself returns a result
    /// with `isError` set.
    #[error("tool `{tool}` failed: {text}")]
    ToolFailed {
        /// The tool.
        tool: Box<str>,
        /// The text of the tool's content.
        text: String,
    },
    /// No answer came in time, and the call was cancelled at the server. It may have had effects. Try
    /// again, or allow more time with [`ClientCall::deadline`](crate::ClientCall::deadline).
    #[error("server `{server}` did not answer `{method}`: {overdue}")]
    Deadline {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The limit that was reached.
        overdue: Overdue,
    },
    /// The call was cancelled with a [`Canceller`](crate::Canceller), and the server was told. Effects
    /// that it already had are not undone.
    #[error("`{method}` of server `{server}` was cancelled: {reason}")]
    Cancelled {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The reason that the canceller gave.
        reason: Arc<str>,
    },
    /// The connection ended before an answer came. Connect again. The call may have run, unless it was
    /// made after the connection ended.
    #[error("the connection to server `{server}` ended before it answered `{method}`{ending}")]
    Closed {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// How the connection ended, with the last lines of the process's standard error.
        ending: Arc<Ending>,
    },
    /// The answer does not follow the protocol, which is a bug of the server. The connection stays
    /// usable.
    #[error("server `{server}` answered `{method}` with something that cannot be read")]
    Malformed {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The problem.
        #[source]
        source: serde_json::Error,
    },
    /// The answer is longer than the limit and was skipped. Raise
    /// [`Client::limits`](crate::Client::limits), or ask for less. The connection stays open.
    #[error(
        "server `{server}` answered `{method}` with more than {limit} bytes; raise \
         `Limits::max_message_bytes`"
    )]
    Oversized {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The answer has more JSON values than the limit allows. Raise
    /// [`Client::limits`](crate::Client::limits), or ask for less.
    #[error(
        "server `{server}` answered `{method}` with more than {limit} JSON nodes; raise \
         `Limits::max_json_nodes`"
    )]
    TooManyNodes {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The limit on JSON values, for an answer of this length.
        limit: usize,
    },
    /// The tool's structured content does not match its own output schema, which is a bug of the
    /// server. [`Client::output_check`](crate::Client::output_check) decides whether this is an error.
    #[error(
        "tool `{tool}` returned structured content that breaks its output schema at `{pointer}`: {problem}"
    )]
    OutputMismatch {
        /// The tool.
        tool: Box<str>,
        /// The position in the structured content, as a JSON pointer; empty for the whole.
        pointer: Box<str>,
        /// The expected value and the actual value.
        problem: String,
    },
    /// The tool's result does not have the requested type. Only
    /// [`ToolOutput::parse`](crate::ToolOutput::parse) fails this way; ask for another type, or
    /// read the text.
    #[error("the result of tool `{tool}` does not have the requested type")]
    OtherType {
        /// The tool.
        tool: Box<str>,
        /// The mismatch.
        #[source]
        source: serde_json::Error,
    },
    /// The server needs input before it continues, and the client has no handler for it. Set one, or
    /// answer by hand.
    #[error("server `{server}` wants input for `{method}`: {reason}")]
    InputRequired {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// Why the input was not given.
        reason: String,
        /// The server's questions.
        asked: Box<InputRequiredResult>,
    },
    /// The server asked for input more often than [`Client::max_rounds`](crate::Client::max_rounds)
    /// allows.
    #[error(
        "server `{server}` asked for input {rounds} times during one `{method}` and still wants more"
    )]
    TooManyRounds {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The limit.
        rounds: usize,
    },
    /// A call that waits for answers cannot be resumed here: it belongs to another connection, or was
    /// given up. Make the call again.
    #[error("cannot resume `{method}` on server `{server}`: {reason}")]
    NotResumable {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// Why, and where it could be resumed.
        reason: Box<str>,
    },
    /// The server does not offer this method, by its revision or its capabilities. Nothing was sent.
    /// Check [`Peer::capabilities`](crate::Peer::capabilities) before the call to avoid this error.
    #[error("server `{server}` does not offer `{method}`: {reason}")]
    NotOffered {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The missing capability.
        reason: Box<str>,
    },
    /// The arguments cannot be sent: they cannot be serialised, are not an object, or have an invalid
    /// key in `_meta`. Nothing was sent.
    #[error("the arguments for `{method}` cannot be sent")]
    Unwritable {
        /// The method.
        method: Box<str>,
        /// The problem.
        #[source]
        source: serde_json::Error,
    },
    /// Too many calls are waiting on this connection. Nothing was sent. Let some finish first.
    #[error("{limit} calls to server `{server}` are already waiting; let some finish first")]
    Busy {
        /// The server.
        server: Arc<str>,
        /// How many calls may wait.
        limit: usize,
    },
    /// The server cannot be reached, or the request cannot be sent to it: the call did not run. Try
    /// again later, or fix the problem in the cause.
    #[error("`{method}` could not be sent to server `{server}`")]
    Unsent {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The hook for authorization failed to get credentials, before the request was sent or after the
    /// server refused it: the call did not run. The cause says what to do.
    #[error("`{method}` needs authorization at server `{server}`, and that failed")]
    Authorization {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The error of the hook.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The connection broke in the middle of the call, which may or may not have run. The client stays
    /// connected: check whether the call had effects, or call again.
    #[error(
        "the connection to server `{server}` broke in the middle of `{method}`, which may or may not have run"
    )]
    Lost {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// How the connection broke.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The session had expired before the call, or expired during it, and the call was not repeated
    /// because it might then run twice.
    #[error(
        "the session with server `{server}` expired before it answered `{method}`, which may or may not have run; {reason}"
    )]
    SessionExpired {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The state of the session, and what to do.
        reason: String,
    },
    /// The server, or a proxy in front of it, answered with an HTTP status and no JSON-RPC message. For
    /// 429 and 503, wait for `retry_after` and call again.
    #[error(
        "server `{server}` answered `{method}` with HTTP status {status}{}{}",
        after_colon(text),
        in_a_while(*retry_after)
    )]
    Status {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// The HTTP status.
        status: u16,
        /// The text of the response, shortened.
        text: String,
        /// How long the server asks to wait, by its `Retry-After` header.
        retry_after: Option<Duration>,
    },
    /// The server requires other credentials. Authorize with `HttpTarget::authorize` or a header, and
    /// call again.
    #[error(
        "server `{server}` refused `{method}` with HTTP status {status}: it requires authorization{}{}",
        in_brackets(challenge.as_deref()),
        after_colon(text)
    )]
    Unauthorized {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// 401 if the caller is unknown, 403 if the caller lacks permission.
        status: u16,
        /// The `WWW-Authenticate` header of the response.
        challenge: Option<Box<str>>,
        /// The text of the response, shortened.
        text: String,
    },
    /// A list does not end: a cursor came twice, or the list has more than 10,000 pages or a million
    /// entries. Read long lists as a [stream](crate::List::stream).
    #[error("server `{server}` answered `{method}` with a list that does not end: {reason}")]
    EndlessList {
        /// The server.
        server: Arc<str>,
        /// The method.
        method: Box<str>,
        /// Why the list is considered endless.
        reason: Box<str>,
    },
}

impl CallError {
    /// Returns the server's error object, if the server answered with an error.
    ///
    /// ```no_run
    /// # async fn run(server: turnbuckle_client::Connection) {
    /// let result = server.read("file:///missing").await;
    /// if let Err(error) = result
    ///     && error.rejection().is_some_and(|error| error.is_resource_not_found())
    /// {
    ///     println!("the resource does not exist");
    /// }
    /// # }
    /// ```
    pub fn rejection(&self) -> Option<&ErrorObject> {
        match self {
            Self::Rejected { error, .. } => Some(error),
            _ => None,
        }
    }

    pub(crate) fn rejected(
        server: Arc<str>,
        revision: Revision,
        method: &str,
        error: &RawValue,
    ) -> Self {
        match ErrorObject::read(error.get()) {
            Ok(mut error) => {
                error.raise(revision);
                Self::Rejected {
                    server,
                    method: method.into(),
                    error: Box::new(error),
                }
            }
            Err(source) => Self::malformed(server, method, source),
        }
    }

    pub(crate) fn malformed(server: Arc<str>, method: &str, source: serde_json::Error) -> Self {
        Self::Malformed {
            server,
            method: method.into(),
            source,
        }
    }

    pub(crate) fn overdue(server: &Arc<str>, method: &str, overdue: Overdue) -> Self {
        Self::Deadline {
            server: server.clone(),
            method: method.into(),
            overdue,
        }
    }

    pub(crate) fn lost(
        server: &Arc<str>,
        method: &str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Lost {
            server: server.clone(),
            method: method.into(),
            source: source.into(),
        }
    }

    pub(crate) fn unwritable(method: &str, source: serde_json::Error) -> Self {
        Self::Unwritable {
            method: method.into(),
            source,
        }
    }

    /// The error for an invalid key in `_meta`.
    pub(crate) fn invalid_meta_key(method: &str, key: &str) -> Self {
        let key = name_in_message(key);
        let reason = format!(
            "`{key}` is not a valid key of `_meta`: use an optional prefix such as \
             `com.example/` and a name of letters, digits, `-`, `_` and `.`"
        );
        Self::unwritable(method, serde::ser::Error::custom(reason))
    }

    /// basic, `_meta`: the grammar of keys is the same for clients and servers.
    pub(crate) fn check_meta(method: &str, meta: Option<&Meta>) -> Result<(), Self> {
        match meta.and_then(Meta::invalid_key) {
            Some(key) => Err(Self::invalid_meta_key(method, key)),
            None => Ok(()),
        }
    }
}

pub(super) fn after_colon(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}

fn in_a_while(wait: Option<Duration>) -> String {
    wait.map(|wait| format!("; try again in {} s", wait.as_secs()))
        .unwrap_or_default()
}

pub(super) fn in_brackets(text: Option<&str>) -> String {
    text.map(|text| format!(" ({text})")).unwrap_or_default()
}
