//! A client that exchanges lines of JSON, so that the tests see what a client sees.
//!
//! Every message of the server is checked against the specification's schema of its revision,
//! whatever the test is about.

use std::{collections::HashMap, time::Duration};

use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf},
    task::JoinHandle,
    time::timeout,
};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Caller, LiveServer, ServeError, Streams};

use crate::spec;

/// Longer than anything here takes on a busy machine; only failing tests wait this long.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// A connection to a server.
pub(crate) struct Wire {
    writer: WriteHalf<DuplexStream>,
    reader: BufReader<ReadHalf<DuplexStream>>,
    server: JoinHandle<Result<(), ServeError>>,
    /// The revision of requests that [`Wire::request`] and similar methods send.
    revision: Revision,
    /// The revision of the session, if there was a handshake.
    session: Option<Revision>,
    last: i64,
    /// The revision and the method of each request, by its id as JSON.
    asked: HashMap<String, (Revision, String)>,
}

impl Wire {
    /// Opens a connection without a handshake. Requests are modern.
    pub(crate) fn open(server: &LiveServer) -> Self {
        Self::open_as(server, Caller::local())
    }

    /// Opens a connection without a handshake for this caller.
    pub(crate) fn open_as(server: &LiveServer, caller: Caller) -> Self {
        let (theirs, ours) = turnbuckle_transport::duplex();
        let server = server.clone();
        let streams = Streams::new(theirs.reader, theirs.writer).caller(caller);
        Self {
            writer: ours.writer,
            reader: BufReader::new(ours.reader),
            server: tokio::spawn(async move { server.serve(streams).await }),
            revision: Revision::LATEST,
            session: None,
            last: 1000, // Lower ids are chosen by tests.
            asked: HashMap::new(),
        }
    }

    /// Opens a connection with this revision, with a handshake if the revision has one.
    pub(crate) async fn at(server: &LiveServer, revision: Revision) -> Self {
        let mut wire = Self::open(server);
        wire.greet(revision).await;
        wire
    }

    /// Opens a connection with this revision for this caller.
    pub(crate) async fn at_as(server: &LiveServer, revision: Revision, caller: Caller) -> Self {
        let mut wire = Self::open_as(server, caller);
        wire.greet(revision).await;
        wire
    }

    /// Makes a handshake if the revision has one, and uses this revision from now on.
    pub(crate) async fn greet(&mut self, revision: Revision) {
        if !revision.is_modern() {
            let result = self.initialize(revision.as_str()).await;
            assert_eq!(result["protocolVersion"], revision.as_str());
            self.notify("notifications/initialized", Value::Null).await;
        }
        self.revision = revision;
    }

    /// Sends only `initialize`, and returns its result.
    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        self.revision = Revision::LATEST_LEGACY;
        let client = json!({ "name": "wire", "version": "1" });
        let params =
            json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let result = self.result("initialize", params).await;
        if let Some(revision) = result["protocolVersion"]
            .as_str()
            .and_then(Revision::from_date)
        {
            self.revision = revision;
        }
        result
    }

    /// Sets the revision of the following requests: both eras may use one connection.
    pub(crate) fn speak(&mut self, revision: Revision) {
        self.revision = revision;
    }

    /// Sends a request without waiting for its answer, and returns its id.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let id = self.last;
        self.ask_with(json!(id), method, params).await;
        id
    }

    /// Sends a request with this id, without waiting for its answer.
    pub(crate) async fn ask_with(&mut self, id: Value, method: &str, params: Value) {
        let params = self.dressed(params);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
            .await;
    }

    /// Calls a tool without waiting for the answer, and returns the id.
    pub(crate) async fn ask_tool(&mut self, tool: &str, arguments: Value) -> i64 {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
        .await
    }

    /// Sends a request and returns the whole response, which must be the next message.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let response = self.receive().await;
        assert_eq!(response["id"], id, "{response}");
        response
    }

    /// Sends a request and returns its result.
    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params).await;
        assert!(
            response.get("result").is_some(),
            "{method} failed: {response}"
        );
        response["result"].take()
    }

    /// Sends a request and returns its error object.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let mut response = self.request(method, params).await;
        assert!(
            response.get("error").is_some(),
            "{method} did not fail: {response}"
        );
        response["error"].take()
    }

    /// Sends a request and returns the code of its error.
    pub(crate) async fn code(&mut self, method: &str, params: Value) -> i64 {
        self.error(method, params).await["code"]
            .as_i64()
            .expect("a code is an integer")
    }

    /// Calls a tool and returns its result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
        .await
    }

    /// Calls a tool and returns the text of its only content block.
    pub(crate) async fn text(&mut self, tool: &str, arguments: Value) -> String {
        only_text(&self.call(tool, arguments).await)
    }

    /// Sends a notification; null means no params.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message).await;
    }

    /// Cancels a request.
    pub(crate) async fn cancel(&mut self, id: &Value) {
        self.notify("notifications/cancelled", json!({ "requestId": id }))
            .await;
    }

    /// Sends a message.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string()).await;
    }

    /// Sends a line of any content.
    pub(crate) async fn send_line(&mut self, line: &str) {
        match serde_json::from_str::<Vec<&RawValue>>(line) {
            Ok(members) => members
                .into_iter()
                .for_each(|member| self.remember(member.get())),
            Err(_) => self.remember(line),
        }
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    /// Sends bytes.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        let sent = timeout(TIMEOUT, self.writer.write_all(bytes)).await;
        sent.expect("the server reads").expect("the pipe is open");
    }

    /// Returns the next message.
    pub(crate) async fn receive(&mut self) -> Value {
        self.next().await.expect("the server had more to say")
    }

    /// Returns the next message, or `None` if the server has closed its side.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.next_line().await?;
        let message = serde_json::from_str(&line).expect("the server sends JSON");
        self.judge(&message);
        Some(message)
    }

    /// Returns the next line, unparsed.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(TIMEOUT, self.reader.read_line(&mut line)).await;
        let count = read
            .expect("the server answers in time")
            .expect("the pipe is open");
        if count == 0 {
            return None;
        }
        assert_eq!(line.pop(), Some('\n'), "every message ends its line");
        Some(line)
    }

    /// Returns the next `count` messages.
    pub(crate) async fn receive_many(&mut self, count: usize) -> Vec<Value> {
        let mut messages = Vec::with_capacity(count);
        for _ in 0..count {
            messages.push(self.receive().await);
        }
        messages
    }

    /// Asserts that every message of the server was received: the next message is the answer to a
    /// new request.
    pub(crate) async fn assert_quiet(&mut self) {
        let revision = std::mem::replace(&mut self.revision, Revision::LATEST);
        self.result("server/discover", json!({})).await;
        self.revision = revision;
    }

    /// Ends the input.
    pub(crate) async fn end_input(&mut self) {
        self.writer.shutdown().await.expect("the pipe is open");
    }

    /// Returns all messages up to the end of the server's output.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.next().await {
            messages.push(message);
        }
        messages
    }

    /// Returns how the connection ended on the server's side.
    pub(crate) async fn ended(self) -> Result<(), ServeError> {
        let Self { server, .. } = self;
        let ended = timeout(TIMEOUT, server)
            .await
            .expect("the connection ends in time");
        ended.expect("the connection does not panic")
    }

    /// Disconnects without waiting; the server must end without an error.
    pub(crate) async fn hang_up(self) {
        let Self {
            writer,
            reader,
            server,
            ..
        } = self;
        drop((writer, reader));
        let ended = timeout(TIMEOUT, server)
            .await
            .expect("the connection ends in time");
        ended
            .expect("the connection does not panic")
            .expect("the connection ends in peace");
    }

    /// Sends all these bytes and ends the input, while reading. Returns all messages, and how the
    /// connection ended.
    pub(crate) async fn pour(self, bytes: Vec<u8>) -> (Vec<Value>, Result<(), ServeError>) {
        let Self {
            mut writer,
            mut reader,
            server,
            ..
        } = self;
        let pouring = tokio::spawn(async move {
            writer.write_all(&bytes).await.expect("the pipe is open");
            writer.shutdown().await.expect("the pipe is open");
        });
        let (mut messages, mut line) = (Vec::new(), String::new());
        loop {
            line.clear();
            let read = timeout(TIMEOUT, reader.read_line(&mut line)).await;
            if read
                .expect("the server answers in time")
                .expect("the pipe is open")
                == 0
            {
                break;
            }
            messages.push(serde_json::from_str(&line).expect("the server sends JSON"));
        }
        pouring.await.expect("everything was sent");
        let ended = timeout(TIMEOUT, server)
            .await
            .expect("the connection ends in time");
        (messages, ended.expect("the connection does not panic"))
    }

    /// Lets the server drop the connection, like a program that stops serving.
    pub(crate) async fn abandon(self) {
        self.server.abort();
        let ended = timeout(TIMEOUT, self.server)
            .await
            .expect("the connection ends in time");
        assert!(ended.is_err_and(|error| error.is_cancelled()));
    }

    /// Makes the params of this revision: a modern request has `_meta`.
    fn dressed(&self, params: Value) -> Value {
        let mut params = if params.is_null() { json!({}) } else { params };
        if self.revision.is_modern() {
            let meta = &mut params["_meta"];
            for (key, value) in modern_meta().as_object().into_iter().flatten() {
                if meta.get(key).is_none() {
                    meta[key] = value.clone();
                }
            }
        }
        params
    }

    /// Records a request, to know how its answer must look.
    fn remember(&mut self, message: &str) {
        // Parsed only one level deep: the rest may be there to break parsers.
        let Ok(members) = serde_json::from_str::<HashMap<&str, &RawValue>>(message) else {
            return;
        };
        let text = |name| members.get(name).map_or("null", |raw| raw.get());
        if let (Ok(id), Ok(method)) = (
            serde_json::from_str::<Value>(text("id")),
            serde_json::from_str(text("method")),
        ) {
            let is_modern = text("params").contains("io.modelcontextprotocol/protocolVersion");
            let session = self.session.unwrap_or(Revision::LATEST_LEGACY);
            let revision = if is_modern { Revision::LATEST } else { session };
            self.asked.insert(id.to_string(), (revision, method));
        }
    }

    /// Compares a message with the specification.
    fn judge(&mut self, message: &Value) {
        for message in message
            .as_array()
            .map_or(std::slice::from_ref(message), Vec::as_slice)
        {
            let asked = self.asked.get(&message["id"].to_string()).cloned();
            let latest = self.session.unwrap_or(Revision::LATEST);
            let (mut revision, method) = asked.unwrap_or((latest, String::new()));
            let meta = &message["params"]["_meta"];
            if meta.get("io.modelcontextprotocol/subscriptionId").is_some() {
                revision = Revision::LATEST;
            }
            if method == "initialize"
                && let Some(date) = message["result"]["protocolVersion"].as_str()
            {
                revision = Revision::from_date(date).expect("the server answers a revision");
                self.session = Some(revision);
            }
            spec::judge(revision, &method, message);
        }
    }
}

/// The `_meta` of every modern request.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "wire", "version": "1" },
    })
}

/// Returns the text of the only content block of a result.
pub(crate) fn only_text(result: &Value) -> String {
    let content = result["content"]
        .as_array()
        .expect("a tool's result has content");
    assert_eq!(content.len(), 1, "{result}");
    content[0]["text"]
        .as_str()
        .expect("the content is text")
        .to_owned()
}
