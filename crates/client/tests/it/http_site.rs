//! A small HTTP server for tests, which control every byte.

use std::{
    collections::HashMap,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use turnbuckle_client::{Client, HttpTarget, protocol::Revision};

/// A request that was received.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
    /// The connection that it came on, counted from zero.
    pub(crate) connection: usize,
}

impl Heard {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The method of the message; empty if it has no method.
    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// The HTTP verb and the method of the message, as one text to compare.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.verb, self.method()).trim().to_owned()
    }

    pub(crate) fn result(&self, result: Value) -> Value {
        let mut message = json!({"jsonrpc": "2.0", "id": self.body["id"]});
        message["result"] = result;
        message
    }

    pub(crate) fn error(&self, code: i64, message: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": message}})
    }
}

/// Writes the answer.
pub(crate) struct Answer {
    stream: TcpStream,
    is_chunked: bool,
    is_done: bool,
}

impl Answer {
    /// Writes exactly these bytes.
    pub(crate) async fn raw(&mut self, bytes: &[u8]) {
        // Some tests are about clients that have hung up.
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
    }

    /// Answers with a status, headers and a body.
    pub(crate) async fn full(&mut self, status: u16, headers: &[(&str, &str)], body: &str) {
        let mut head = format!(
            "HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        self.raw(format!("{head}\r\n{body}").as_bytes()).await;
    }

    pub(crate) async fn status(&mut self, status: u16) {
        self.full(status, &[], "").await;
    }

    pub(crate) async fn json(&mut self, status: u16, message: &Value) {
        self.full(
            status,
            &[("content-type", "application/json")],
            &message.to_string(),
        )
        .await;
    }

    /// Starts an event stream.
    pub(crate) async fn events(&mut self) {
        self.events_with("").await;
    }

    /// The same with more headers, each with its line end.
    pub(crate) async fn events_with(&mut self, headers: &str) {
        self.is_chunked = true;
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";
        self.raw(format!("{head}{headers}\r\n").as_bytes()).await;
    }

    /// Writes a piece of a stream.
    pub(crate) async fn chunk(&mut self, text: &str) {
        self.raw(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes())
            .await;
    }

    /// Writes a message as an event.
    pub(crate) async fn event(&mut self, message: &Value) {
        self.chunk(&format!("data: {message}\n\n")).await;
    }

    /// Waits until the client hangs up.
    pub(crate) async fn hung_up(&mut self) {
        let mut rest = [0; 64];
        while !matches!(self.stream.read(&mut rest).await, Ok(0) | Err(_)) {}
        self.is_done = true;
    }

    /// Hangs up without an answer.
    pub(crate) fn hang_up(&mut self) {
        self.is_done = true;
    }
}

pub(crate) type Handling<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

type Handler = dyn for<'a> Fn(Heard, &'a mut Answer) -> Handling<'a> + Send + Sync;

/// The server. Dropping it ends it.
pub(crate) struct Site {
    pub(crate) address: String,
    log: Arc<Mutex<Vec<Heard>>>,
    _tasks: JoinSet<()>,
}

impl Site {
    /// Starts a server that answers each request with `handler`.
    pub(crate) async fn start<H>(handler: H) -> Self
    where
        H: for<'a> Fn(Heard, &'a mut Answer) -> Handling<'a> + Send + Sync + 'static,
    {
        Self::start_at("127.0.0.1:0", handler).await
    }

    /// Starts the server at this address.
    pub(crate) async fn start_at<H>(address: &str, handler: H) -> Self
    where
        H: for<'a> Fn(Heard, &'a mut Answer) -> Handling<'a> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::new(handler), log.clone()));
        Self {
            address,
            log,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn target(&self) -> HttpTarget {
        HttpTarget::new(self.url()).no_proxy()
    }

    /// All requests so far.
    pub(crate) fn heard(&self) -> Vec<Heard> {
        self.log.lock().unwrap().clone()
    }

    /// The verbs and methods of all requests so far.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.heard().iter().map(Heard::line).collect()
    }

    /// The last request with this method.
    pub(crate) fn last(&self, method: &str) -> Heard {
        let heard = self.heard();
        let last = heard
            .into_iter()
            .rev()
            .find(|heard| heard.method() == method);
        last.unwrap_or_else(|| panic!("no `{method}` came"))
    }

    /// The number of requests whose verb and method are `line`.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.lines().iter().filter(|other| *other == line).count()
    }

    /// Waits until this many of them have come, for at most half a minute.
    pub(crate) async fn wait_for(&self, line: &str, count: usize) {
        for _ in 0..6000 {
            if self.count(line) >= count {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("waited in vain for `{line}`, heard {:?}", self.lines());
    }
}

async fn accept(listener: TcpListener, handler: Arc<Handler>, log: Arc<Mutex<Vec<Heard>>>) {
    let mut connections = JoinSet::new();
    for connection in 0.. {
        let (stream, _) = listener.accept().await.unwrap();
        // As servers do: an event is sent when it is written.
        stream.set_nodelay(true).unwrap();
        connections.spawn(serve(stream, connection, handler.clone(), log.clone()));
    }
}

async fn serve(
    stream: TcpStream,
    connection: usize,
    handler: Arc<Handler>,
    log: Arc<Mutex<Vec<Heard>>>,
) {
    let mut answer = Answer {
        stream,
        is_chunked: false,
        is_done: false,
    };
    let mut buffer = Vec::new();
    while let Some(mut heard) = read(&mut answer.stream, &mut buffer).await {
        heard.connection = connection;
        log.lock().unwrap().push(heard.clone());
        handler(heard, &mut answer).await;
        if answer.is_done {
            return;
        }
        if std::mem::take(&mut answer.is_chunked) {
            answer.raw(b"0\r\n\r\n").await;
        }
    }
}

async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Heard> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, buffer).await?;
    };
    let head = String::from_utf8(buffer.drain(..end).collect()).unwrap();
    let mut lines = head.lines();
    let mut start = lines.next()?.split(' ');
    let (verb, path) = (start.next()?.to_owned(), start.next()?.to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while buffer.len() < length {
        more(stream, buffer).await?;
    }
    let body: Vec<u8> = buffer.drain(..length).collect();
    Some(Heard {
        verb,
        path,
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        connection: 0,
    })
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    match stream.read_buf(buffer).await {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(()),
    }
}

/// The answer of a modern server to `server/discover`.
pub(crate) fn discovered() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": [Revision::LATEST],
        "capabilities": super::script::everything(),
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "site", "version": "1"}},
    })
}

/// The answer of a legacy server to `initialize`.
pub(crate) fn initialized(revision: Revision) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": super::script::everything(),
        "serverInfo": {"name": "site", "version": "1"},
    })
}

/// The result of a tool that returned this text.
pub(crate) fn text(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

/// A client without settings.
pub(crate) fn plain() -> Client {
    Client::new("app", "1.0")
}

/// A modern server that answers `server/discover`, and leaves other requests to `handler`.
pub(crate) async fn modern<H>(handler: H) -> Site
where
    H: for<'a> Fn(Heard, &'a mut Answer) -> Handling<'a> + Send + Sync + 'static,
{
    Site::start(move |heard, answer| {
        if heard.method() == "server/discover" {
            return Box::pin(async move { answer.json(200, &heard.result(discovered())).await });
        }
        handler(heard, answer)
    })
    .await
}

/// An error with its causes.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.extend([": ", &cause.to_string()]);
        source = cause.source();
    }
    text
}
