//! A client: its identity, its requests, and its reaction to trouble.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    history::{History, Trouble},
    tally::{Fault, Kind, REVISIONS, Tally},
    wire::{self, Arrival, Outgoing},
};

/// How long a request may take to be answered. A replica that is stopped answers after ten seconds, and
/// one that passes a message on waits for up to 25 seconds.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(40);

/// How long a client keeps trying to get one thing done.
const DONE_WITHIN: Duration = Duration::from_secs(90);

/// How long a client waits before it tries again.
const PAUSE: Duration = Duration::from_millis(100);

/// The endpoint of Streamable HTTP.
const ENDPOINT: &str = "/mcp";

/// The state that all clients share.
pub(super) struct Run {
    /// Where the load balancer listens.
    pub(super) address: String,
    pub(super) tally: Tally,
    pub(super) history: History,
    pub(super) is_over: AtomicBool,
}

impl Run {
    /// Records trouble of a client with a request that began at this time: either events explain it, or it is a fault.
    pub(super) fn note(&self, who: &str, kind: Kind, trouble: &Trouble, began: std::time::Instant) {
        if *trouble == Trouble::Hung {
            let problem = format!("{}: {trouble}", kind.name());
            self.tally.fault(Fault::Hung, who, &problem);
        } else if self.history.explains(trouble, began) {
            self.tally.explained(kind, trouble, who);
        } else {
            let problem = format!("{}: {trouble}", kind.name());
            self.tally.fault(Fault::Lost, who, &problem);
        }
    }
}

/// One client.
pub(super) struct Guest {
    pub(super) run: Arc<Run>,
    /// The caller's name on the server.
    pub(super) name: String,
    /// The index of its revision.
    pub(super) place: usize,
    /// Its session id, if its revision has sessions and one is open.
    pub(super) session: Mutex<Option<String>>,
    next: AtomicU64,
}

impl Guest {
    pub(super) fn new(run: &Arc<Run>, number: usize) -> Self {
        let place = number % REVISIONS.len();
        Self {
            run: Arc::clone(run),
            name: format!("client-{number}"),
            place,
            session: Mutex::default(),
            next: AtomicU64::new(1),
        }
    }

    pub(super) fn revision(&self) -> &'static str {
        REVISIONS[self.place]
    }

    pub(super) fn is_modern(&self) -> bool {
        self.place == REVISIONS.len() - 1
    }

    /// Its session id; `None` without one.
    pub(super) fn session(&self) -> Option<String> {
        self.session.lock().expect("nothing panics with it").clone()
    }

    pub(super) fn set_session(&self, session: Option<String>) {
        *self.session.lock().expect("nothing panics with it") = session;
    }

    /// A new number for a request.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn is_over(&self) -> bool {
        self.run.is_over.load(Ordering::Relaxed)
    }

    /// The text of a tool's answer to a request.
    pub(super) fn said(&self, tool: &str, number: u64) -> String {
        format!("{tool} {number} for {}", self.name)
    }

    /// The URI of the resource that changes when this client requests it.
    pub(super) fn uri(&self) -> String {
        format!("bench://box/{}", self.name)
    }

    pub(super) fn call(&self, tool: &str, number: u64) -> Value {
        let params = json!({
            "name": tool, "arguments": { "number": number }, "_meta": { "progressToken": number },
        });
        self.request(number, "tools/call", params)
    }

    pub(super) fn request(&self, number: u64, method: &str, mut params: Value) -> Value {
        if self.is_modern() {
            let meta = &mut params["_meta"];
            if meta.is_null() {
                *meta = json!({});
            }
            meta["io.modelcontextprotocol/protocolVersion"] = self.revision().into();
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({
                "elicitation": { "form": {} },
                "extensions": { "io.modelcontextprotocol/tasks": {} },
            });
        }
        json!({ "jsonrpc": "2.0", "id": number, "method": method, "params": params })
    }

    /// Posts a message.
    pub(super) async fn post(
        &self,
        message: &Value,
        deadline: Instant,
    ) -> Result<Arrival, Trouble> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let method = text(&message["method"]);
        let named = match &*method {
            "tools/call" => text(&message["params"]["name"]),
            "resources/read" => text(&message["params"]["uri"]),
            _ => text(&message["params"]["taskId"]),
        };
        let mut headers = vec![("accept", "application/json, text/event-stream")];
        if self.is_modern() {
            headers.push(("mcp-method", &method));
            if !named.is_empty() {
                headers.push(("mcp-name", &named));
            }
        }
        self.send("POST", &headers, &message.to_string(), deadline)
            .await
    }

    /// Sends a request to the endpoint, in the session if there is one.
    pub(super) async fn send(
        &self,
        method: &str,
        more: &[(&str, &str)],
        body: &str,
        deadline: Instant,
    ) -> Result<Arrival, Trouble> {
        let session = self.session();
        let mut headers = more.to_vec();
        if let Some(session) = &session {
            headers.push(("mcp-session-id", session));
        }
        if session.is_some() || self.is_modern() {
            headers.push(("mcp-protocol-version", self.revision()));
        }
        self.send_to(ENDPOINT, method, &headers, body, deadline)
            .await
    }

    pub(super) async fn send_to(
        &self,
        path: &str,
        method: &str,
        more: &[(&str, &str)],
        body: &str,
        deadline: Instant,
    ) -> Result<Arrival, Trouble> {
        let bearer = format!("Bearer {}", self.name);
        let mut headers = more.to_vec();
        headers.push(("authorization", &bearer));
        let outgoing = Outgoing {
            method,
            path,
            headers: &headers,
            body,
        };
        wire::send(&self.run.address, &outgoing, deadline).await
    }

    fn title(&self) -> String {
        format!("{} ({})", self.name, self.revision())
    }

    pub(super) fn fault(&self, fault: Fault, what: &str) {
        self.run.tally.fault(fault, &self.title(), what);
    }

    /// Records trouble with a request that began at this time: either events explain it, or it is a fault.
    pub(super) fn note(&self, kind: Kind, trouble: &Trouble, began: Instant) {
        self.run
            .note(&self.title(), kind, trouble, began.into_std());
    }

    /// Repeats something until it succeeds, after any trouble. `None` if it takes too long, which is
    /// recorded.
    pub(super) async fn insist<T>(
        &self,
        kind: Kind,
        mut attempt: impl AsyncFnMut() -> Result<T, Trouble>,
    ) -> Option<T> {
        let first = Instant::now();
        while first.elapsed() < DONE_WITHIN {
            let began = Instant::now();
            match attempt().await {
                Ok(done) => return Some(done),
                Err(trouble) => self.note(kind, &trouble, began),
            }
            sleep(PAUSE).await;
        }
        let problem = format!("{}: not done within {DONE_WITHIN:?}", kind.name());
        self.fault(Fault::Hung, &problem);
        None
    }
}

/// The deadline for the answer to a request that is sent now.
pub(super) fn deadline() -> Instant {
    Instant::now() + ANSWER_WITHIN
}
