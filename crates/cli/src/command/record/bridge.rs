//! A server at a URL, for a client that speaks over stdin and stdout. Messages pass as they are; what
//! HTTP wants besides is made from what they say.

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

/// The longest message that is passed on, in bytes: what a client of ours takes.
pub(super) const MAX_MESSAGE: usize = 64 * 1024 * 1024;

/// How many lines of the client wait while the server takes one.
const MAX_WAITING: usize = 64;

/// How many tools are remembered for the headers that their calls want.
const MAX_TOOLS: usize = 10_000;

/// How long answers are waited for after the client has gone.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// How long a server has to end the session.
const ENDING: Duration = Duration::from_secs(1);

/// What one session needs to know. Clones share it.
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
    /// Of a session, from its opening.
    session: Option<String>,
    revision: Option<String>,
    /// Where messages go, with servers that answer by a stream of events alone.
    endpoint: Option<Address>,
    /// Requests under way, which a cancellation ends.
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

/// The lines of stdin, read on a thread of its own.
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

    /// Passes a message on. Requests are answered whenever they are; the rest keeps its order.
    async fn pass(&self, line: Vec<u8>, tasks: &mut JoinSet<()>) -> Outcome {
        while tasks.try_join_next().is_some() {}
        let envelope = Envelope::parse(&line);
        if let Some(id) = envelope.cancelled()
            && self.lock().session.is_none()
            && self.lock().revision.is_none()
        {
            // Without a session, closing the stream is how a request is cancelled.
            self.give_up(&id);
            return Ok(());
        }
        let is_opening = envelope.method() == Some("initialize");
        let is_opened = envelope.method() == Some("notifications/initialized");
        let Some(id) = envelope.id().filter(|_| !is_opening).cloned() else {
            let refused = self.exchange(&envelope, line.clone()).await;
            if let Some(refusal) = refused {
                // An older server takes messages elsewhere; if it does not, the refusal is passed
                // on.
                match self.open_events(tasks).await {
                    Ok(()) => drop(self.exchange(&envelope, line).await),
                    Err(_) => self.deliver(&refusal),
                }
            }
            if let Some(id) = envelope.cancelled() {
                // The server was told: its stream, which may never end, is not waited for.
                self.give_up(&id);
            }
            if is_opened && self.lock().endpoint.is_none() {
                let bridge = self.clone();
                tasks.spawn(async move { bridge.hear().await });
            }
            return Ok(());
        };
        let (bridge, key) = (self.clone(), id.clone());
        // Held until the request is noted, so that it cannot be done before.
        let mut state = self.lock();
        let task = tasks.spawn(async move {
            bridge.exchange(&envelope, line).await;
            bridge.lock().under_way.remove(&key);
        });
        state.under_way.insert(id, task);
        Ok(())
    }

    /// Waits no longer for the answer to a request.
    fn give_up(&self, id: &Id) {
        if let Some(task) = self.lock().under_way.remove(id) {
            task.abort();
        }
    }

    /// Sends a message and passes on the answer; a refusal to open a session is handed back,
    /// so that another way may be tried.
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
            // The answer comes by the stream.
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
            // In 2026-07-28 a stream that broke is over.
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
        // A response that breaks the rules of JSON-RPC is for the client to judge.
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

    /// Opens the stream of a server of 2024-11-05, which says where messages go.
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
                        return Err(lost("the server sends messages to another".to_owned()));
                    }
                    return Ok((endpoint, events));
                }
            }
            Err(lost("the stream does not say where messages go".to_owned()))
        };
        let opened = tokio::time::timeout(self.wait, opening).await;
        let (endpoint, mut events) =
            opened.unwrap_or_else(|_| Err(lost("the server does not answer".to_owned())))?;
        self.lock().endpoint = Some(endpoint);
        let bridge = self.clone();
        tasks.spawn(async move {
            while let Ok(Some(event)) = events.next().await {
                bridge.passed(&event);
            }
        });
        Ok(())
    }

    /// Gives a message to the client, as one line.
    pub(super) fn deliver(&self, message: &[u8]) {
        self.learn(message);
        // Line breaks in JSON are only ever between its parts.
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

    /// Takes note of what later messages have to repeat in their headers.
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

    /// Waits a little for what is under way, and ends the session.
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
            // Servers may keep their sessions; they end them themselves then.
            let _ = tokio::time::timeout(ENDING, ending).await;
        }
    }
}
