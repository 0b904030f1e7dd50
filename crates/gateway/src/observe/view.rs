//! The data about a gateway that the inspector shows.

use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{Revision, envelope::Raw};

use super::series::SeriesView;

/// All data about a gateway except the messages.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Overview {
    /// Seconds since the gateway was opened.
    pub uptime: u64,
    /// The servers, in their order.
    pub servers: Vec<ServerView>,
    /// Questions that wait for answers of clients.
    pub waiting: Vec<WaitingView>,
    /// How many calls may wait for answers.
    pub max_waiting: usize,
    /// The counters of the recorder.
    #[serde(flatten)]
    pub traffic: Traffic,
}

/// The counters of a recorder.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Traffic {
    /// Requests over time.
    pub series: SeriesView,
    /// Requests from each revision of clients to each revision of servers.
    pub cells: Vec<RevisionPairView>,
    /// Callers, the newest first.
    pub callers: Vec<CallerView>,
    /// Denied requests, newest first.
    pub denials: Vec<DenialView>,
    /// The number of the newest request.
    pub newest: u64,
}

/// The requests from one revision of clients to one revision of servers.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RevisionPairView {
    /// The revision of clients.
    pub from: Revision,
    /// The revision of servers.
    pub to: Revision,
    /// The number of requests that were sent to a server.
    pub calls: u64,
    /// The number of questions that servers asked.
    pub asked: u64,
}

/// The requests of a caller with one client.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallerView {
    /// The id of the caller, if the guard identified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The name and version of the client, as it states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The revision of the client.
    pub revision: Revision,
    /// The number of its requests.
    pub calls: u64,
    /// The number of questions that it was asked.
    pub asked: u64,
    /// Milliseconds since its last request.
    pub ago: u64,
}

/// Requests of a caller that were denied or limited for the same reason.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DenialView {
    /// The tool, prompt or URI.
    pub name: String,
    /// The id of the caller, if the guard identified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The reason as text.
    pub reason: String,
    /// How often this happened.
    pub count: u64,
    /// The time of the last one, in milliseconds since 1970.
    pub time: u64,
}

/// A question that waits for an answer of its client.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitingView {
    /// The text of the question.
    pub message: String,
    /// `elicitation`, `url`, `sampling` or `roots`.
    pub kind: &'static str,
    /// The tool, prompt or URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The server that asks.
    pub server: String,
    /// The id of the caller who is asked, if the guard identified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The number of times that this call has asked, counted from 1.
    pub step: u32,
    /// How long it has waited, in seconds.
    pub age: u64,
    /// Seconds until the question is given up, if this is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// The number of the request in the recorder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
}

/// The state and counters of one server.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerView {
    /// Its id.
    pub id: String,
    /// The server's own name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The command or URL of the server, without secrets.
    pub target: String,
    /// `idle`, `disabled`, `starting`, `ready`, `restarting`, `failed` or `removed`.
    pub state: &'static str,
    /// The revision of the connection to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<Revision>,
    /// The reason if it has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Milliseconds until it is restarted automatically.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_in: Option<u64>,
    /// How often it was restarted after a failure.
    pub restarts: u64,
    /// How often it failed.
    pub failures: u64,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
    /// The number of its processes, if it is a program: the shared one and those of callers.
    pub processes: usize,
    /// The number of its tools.
    pub tools: usize,
    /// The number of requests that were sent to it.
    pub calls: u64,
    /// The number of calls that ended with an error.
    pub errors: u64,
    /// The median duration of calls, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// The newest durations, in milliseconds.
    pub recent: Vec<f64>,
    /// The number of callers, if each caller has its own session with the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callers: Option<CallerCounts>,
}

/// The number of callers of a server that each caller reaches with its own credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallerCounts {
    /// Callers for which the server is ready.
    pub ready: usize,
    /// Callers for which the server is starting.
    pub starting: usize,
    /// Callers for which the server has failed.
    pub failed: usize,
}

/// A question that is waiting for its client.
#[derive(Clone, Debug)]
pub(crate) struct WaitingQuestion {
    pub(crate) message: String,
    pub(crate) kind: &'static str,
    pub(crate) name: Option<String>,
    pub(crate) server: String,
    pub(crate) caller: Option<String>,
    pub(crate) step: u32,
    pub(crate) since: Instant,
    pub(crate) expires: Option<Instant>,
    pub(crate) exchange: Option<u64>,
}

impl WaitingQuestion {
    pub(crate) fn view(self, now: Instant) -> WaitingView {
        let seconds = |time: Duration| time.as_secs();
        WaitingView {
            age: seconds(now.saturating_duration_since(self.since)),
            expires: self
                .expires
                .map(|at| seconds(at.saturating_duration_since(now))),
            message: self.message,
            kind: self.kind,
            name: self.name,
            server: self.server,
            caller: self.caller,
            step: self.step,
            exchange: self.exchange,
        }
    }
}

/// The text and the kind of a question.
pub(crate) fn waiting_text(method: &str, params: Option<Raw<'_>>) -> (String, &'static str) {
    let text = |path: &[&str]| {
        let found = params.and_then(|params| params.at(path))?;
        serde_json::from_str::<String>(found.get()).ok()
    };
    match method {
        "elicitation/create" if text(&["mode"]).as_deref() == Some("url") => {
            let message = text(&["message"]).or_else(|| text(&["url"]));
            (message.unwrap_or_else(|| "Visit a URL".to_owned()), "url")
        }
        "elicitation/create" => {
            let message = text(&["message"]);
            let message = message.unwrap_or_else(|| "A form".to_owned());
            (message, "elicitation")
        }
        "sampling/createMessage" => {
            let last = params.and_then(|params| params.member("messages"));
            let last = last.and_then(|messages| messages.elements().pop());
            let content = last.and_then(|message| message.at(&["content", "text"]));
            let said = content.and_then(|raw| serde_json::from_str(raw.get()).ok());
            (
                said.unwrap_or_else(|| "A message of a model".to_owned()),
                "sampling",
            )
        }
        _ => ("The roots of the client".to_owned(), "roots"),
    }
}

/// The text of a JSON value, unchanged.
pub(super) fn text_of(raw: Option<&RawValue>) -> &str {
    raw.map_or("{}", RawValue::get)
}
