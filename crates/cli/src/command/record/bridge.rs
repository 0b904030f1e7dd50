//! Connects a client on stdin and stdout to a server at a URL. Messages are passed on unchanged; the headers
//! that HTTP requires are made from the messages.

use std::{
    collections::HashMap,
    io::{self, BufRead as _, Write as _},
    sync::Arc,
    thread,
    time::Duration,
};

use bytes::Bytes;
use serde_json::Value;
use tokio::{
    sync::mpsc,
    task::{AbortHandle, JoinSet},
};
use turnbuckle::{
    protocol::{
        envelope::{self, Id, Outline},
        http::{ParamHeaders, header},
    },
    transport::http::client::{Address, Agent, HeaderMap, Method, Reply, StatusCode},
};
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    target::{Options, Server},
};
use turnbuckle_host::config::{Remote, Wire};

use super::{
    envelope::{Envelope, set},
    sheet::Sheet,
};
use crate::runtime::stop_signal;

/// The longest message that is passed on, in bytes: the limit of our own client.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// How many lines of the client may wait while the server accepts one.
const MAX_WAITING: usize = 64;

/// How many tools are remembered for the headers of their calls.
const MAX_TOOLS: usize = 10_000;

/// How long to wait for answers after the client has left.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// How long a server has to end the session.
const ENDING: Duration = Duration::from_secs(1);

/// The state of one session. Clones share it.
#[derive(Clone)]
pub(super) struct Bridge {
    pub(super) agent: Agent,
    address: Address,
    sheet: Sheet,
    state: Arc<Mutex<BridgeState>>,
    /// How long a server may take to answer.
    pub(super) wait: Duration,
}

#[derive(Default)]
struct BridgeState {
    /// The session id, once the session is open.
    session: Option<String>,
    revision: Option<String>,
    /// Where to send messages, for servers with HTTP+SSE.
    endpoint: Option<Address>,
    /// Requests under way, which a cancellation aborts.
    under_way: HashMap<Id, AbortHandle>,
    tools: HashMap<String, Arc<ParamHeaders>>,
}

pub(super) async fn run(
    server: &Server,
    remote: &Remote,
    options: &Options,
    sheet: Sheet,
) -> Outcome {
    let bridge = Bridge::new(server, options, sheet)?;
    let mut tasks = JoinSet::new();
    if matches!(remote.wire, Wire::HttpSse) {
        bridge.open_events(&mut tasks).await?;
    }
    let mut lines = lines();
    let mut stop = std::pin::pin!(stop_signal());
    loop {
        let line = tokio::select! {
            line = lines.recv() => line,
            () = stop.as_mut() => None,
        };
        let Some(line) = line else { break };
        bridge.sheet.write("out", &line);
        bridge.pass(line, &mut tasks).await?;
    }
    bridge.end(tasks).await;
    bridge.sheet.all_written()
}

/// The lines of stdin, read on a separate thread.
fn lines() -> mpsc::Receiver<Vec<u8>> {
    let (tell, lines) = mpsc::channel(MAX_WAITING);
    thread::spawn(move || {
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if !line.trim_ascii().is_empty() && tell.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Bridge {
    fn new(server: &Server, options: &Options, sheet: Sheet) -> Outcome<Self> {
        let unreachable =
            |error: &dyn std::error::Error| Failed::new(Code::Connect, error.to_string());
        let target = server
            .http_target(options)?
            .ok_or_else(|| Failed::usage("the server has no URL"))?;
        let turnbuckle_host::config::Launch::Remote(remote) = &server.launch else {
            return Err(Failed::usage("the server has no URL"));
        };
        let address = Address::parse(&remote.url).map_err(|error| unreachable(&error))?;
        let settings = match server.tokens(options) {
            Some(tokens) => target.settings().clone().with_authorize(Arc::new(tokens)),
            None => target.settings().clone(),
        };
        let agent = settings
            .agent(&address)
            .map_err(|error| unreachable(&error))?;
        Ok(Self {
            agent,
            address,
            sheet,
            state: Arc::default(),
            wait: options.longest(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, BridgeState> {
        self.state.lock()
    }

    /// Passes a message on. Requests are answered in any order; other messages keep their order.
    async fn pass(&self, line: Vec<u8>, tasks: &mut JoinSet<()>) -> Outcome {
        while tasks.try_join_next().is_some() {}
        let envelope = Envelope::parse(&line);
        if let Some(id) = envelope.cancelled()
            && self.lock().session.is_none()
            && self.lock().revision.is_none()
        {
            // Without a session, a request is cancelled by closing its stream.
            self.give_up(&id);
            return Ok(());
        }
        let is_opening = envelope.method() == Some("initialize");
        let is_opened = envelope.method() == Some("notifications/initialized");
        let Some(id) = envelope.id().filter(|_| !is_opening).cloned() else {
            let refused = self.exchange(&envelope, line.clone()).await;
            if let Some(refusal) = refused {
                // An older server may accept messages at another URL; if it does not, its refusal is passed
                // on.
                match self.open_events(tasks).await {
                    Ok(()) => drop(self.exchange(&envelope, line).await),
                    Err(_) => self.deliver(&refusal),
                }
            }
            if let Some(id) = envelope.cancelled() {
                // The server was notified. Its stream may never end, so it is closed here.
                self.give_up(&id);
            }
            if is_opened && self.lock().endpoint.is_none() {
                let bridge = self.clone();
                tasks.spawn(async move { bridge.hear().await });
            }
            return Ok(());
        };
        let (bridge, key) = (self.clone(), id.clone());
        // Locked until the request is recorded, so that the request cannot end before that.
        let mut state = self.lock();
        let task = tasks.spawn(async move {
            bridge.exchange(&envelope, line).await;
            bridge.lock().under_way.remove(&key);
        });
        state.under_way.insert(id, task);
        Ok(())
    }

    /// Stops waiting for the answer to a request.
    fn give_up(&self, id: &Id) {
        if let Some(task) = self.lock().under_way.remove(id) {
            task.abort();
        }
    }

    /// Sends a message and passes on the answer. If the server refuses to open a session, the refusal is returned,
    /// so that another transport may be tried.
    async fn exchange(&self, envelope: &Envelope, line: Vec<u8>) -> Option<Bytes> {
        let (address, headers) = self.head(envelope);
        let is_by_events = self.lock().endpoint.is_some();
        let sent = Box::pin(self.agent.post(&address, headers, Bytes::from(line)));
        let reply = match tokio::time::timeout(self.wait, sent).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(error)) => {
                self.fail(envelope, &error.to_string());
                return None;
            }
            Err(_) => {
                self.fail(envelope, "the server did not answer in time");
                return None;
            }
        };
        if envelope.method() == Some("initialize") {
            let id = reply.headers().get(header::SESSION_ID);
            self.lock().session = id.and_then(|id| id.to_str().ok()).map(str::to_owned);
        }
        if is_by_events {
            // The answer arrives on the event stream.
            return None;
        }
        self.receive(envelope, reply).await
    }

    pub(super) fn head(&self, envelope: &Envelope) -> (Address, HeaderMap) {
        let state = self.lock();
        let params = envelope.tool().and_then(|tool| state.tools.get(tool));
        let mut headers = envelope.headers(params.map(Arc::as_ref));
        if envelope.revision().is_none() {
            if let Some(session) = &state.session {
                set(&mut headers, header::SESSION_ID, session);
            }
            if let Some(revision) = &state.revision {
                set(&mut headers, header::PROTOCOL_VERSION, revision);
            }
        }
        let address = state.endpoint.clone();
        (address.unwrap_or_else(|| self.address.clone()), headers)
    }

    /// Passes on the answer of a message.
    async fn receive(&self, envelope: &Envelope, reply: Reply) -> Option<Bytes> {
        let status = reply.status();
        if reply.is_events() && status.is_success() {
            let id = envelope.id();
            let events = reply.events(MAX_MESSAGE);
            // In 2026-07-28 a stream that breaks cannot be resumed.
            let is_answered = if envelope.revision().is_some() {
                self.heard_once(events, id).await
            } else {
                self.answered(events, id).await
            };
            if !is_answered && id.is_some() {
                self.fail(envelope, "the server's stream ended without an answer");
            }
            return None;
        }
        let body = reply.bytes(MAX_MESSAGE).await.unwrap_or_default();
        // A response that violates JSON-RPC is passed on for the client to handle.
        let is_message = envelope::parse(&body).is_ok()
            || (status.is_success() && Outline::of(&body).is_response());
        let is_elsewhere = [400, 404, 405].contains(&status.as_u16());
        let message = if is_message {
            body
        } else {
            let reason = if status.is_success() {
                "the server's answer is not a JSON-RPC message".to_owned()
            } else {
                format!("the server answered with {status}")
            };
            Bytes::from(envelope.failed(&reason)?)
        };
        if is_elsewhere && envelope.method() == Some("initialize") {
            return Some(message);
        }
        self.deliver(&message);
        None
    }

    /// Opens the event stream of a server of 2024-11-05, which names the URL for messages.
    async fn open_events(&self, tasks: &mut JoinSet<()>) -> Outcome {
        let lost = |reason: String| Failed::new(Code::Connect, reason);
        let opening = async {
            let reply = self.agent.events(&self.address, HeaderMap::new()).await;
            let reply = reply.map_err(|error| lost(error.to_string()))?;
            if reply.status() != StatusCode::OK || !reply.is_events() {
                let status = reply.status();
                return Err(lost(format!("this is not an MCP server: {status}")));
            }
            let mut events = reply.events(MAX_MESSAGE);
            while let Ok(Some(event)) = events.next().await {
                if event.event.as_deref() == Some("endpoint") {
                    let endpoint = self.address.join(event.data.trim());
                    let endpoint = endpoint.map_err(|error| lost(error.to_string()))?;
                    if !self.address.is_same_origin(&endpoint) {
                        return Err(lost(
                            "its endpoint for messages has another origin".to_owned(),
                        ));
                    }
                    return Ok((endpoint, events));
                }
            }
            Err(lost(
                "the stream ended without naming an endpoint for messages".to_owned(),
            ))
        };
        let opened = tokio::time::timeout(self.wait, opening).await;
        let (endpoint, mut events) =
            opened.unwrap_or_else(|_| Err(lost("the server did not answer in time".to_owned())))?;
        self.lock().endpoint = Some(endpoint);
        let bridge = self.clone();
        tasks.spawn(async move {
            while let Ok(Some(event)) = events.next().await {
                bridge.passed(&event);
            }
        });
        Ok(())
    }

    /// Passes a message to the client, as one line.
    pub(super) fn deliver(&self, message: &[u8]) {
        self.learn(message);
        // In JSON, line breaks only occur between tokens.
        let flat = |byte: &u8| {
            if matches!(byte, b'\n' | b'\r') {
                b' '
            } else {
                *byte
            }
        };
        let mut line: Vec<u8> = message.iter().map(flat).collect();
        self.sheet.write("in", &line);
        line.push(b'\n');
        let mut out = io::stdout().lock();
        let _ = out.write_all(&line);
        let _ = out.flush();
    }

    fn fail(&self, envelope: &Envelope, reason: &str) {
        if let Some(message) = envelope.failed(reason) {
            self.deliver(message.as_bytes());
        } else {
            tracing::warn!(reason, "a message was lost");
        }
    }

    /// Remembers values that later messages must repeat in their headers.
    fn learn(&self, message: &[u8]) {
        const OPENED: &[u8] = b"\"protocolVersion\"";
        const ANNOTATED: &[u8] = b"\"x-mcp-header\"";
        let has = |part: &[u8]| message.windows(part.len()).any(|found| found == part);
        if !has(OPENED) && !has(ANNOTATED) {
            return;
        }
        let result = Outline::of(message).result;
        let result: Value = result
            .and_then(|result| result.parse().ok())
            .unwrap_or_default();
        let mut state = self.lock();
        if let Some(revision) = result["protocolVersion"].as_str() {
            state.revision = Some(revision.to_owned());
        }
        for tool in result["tools"].as_array().into_iter().flatten() {
            let (name, schema) = (tool["name"].as_str(), tool["inputSchema"].as_object());
            let params = schema.and_then(|schema| ParamHeaders::of(schema).ok());
            if let (Some(name), Some(params)) = (name, params)
                && state.tools.len() < MAX_TOOLS
            {
                state.tools.insert(name.to_owned(), Arc::new(params));
            }
        }
    }

    /// Waits a little for requests under way, then ends the session.
    async fn end(&self, mut tasks: JoinSet<()>) {
        let all = async {
            while !self.lock().under_way.is_empty() && tasks.join_next().await.is_some() {}
        };
        let _ = tokio::time::timeout(LAST_ANSWERS, all).await;
        tasks.abort_all();
        if self.lock().session.is_some() {
            let (address, headers) = self.head(&Envelope::parse(b"{}"));
            let ending = self
                .agent
                .send(Method::DELETE, &address, headers, Bytes::new());
            // Servers need not support this; they then end the session themselves.
            let _ = tokio::time::timeout(ENDING, ending).await;
        }
    }
}
