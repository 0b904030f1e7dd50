//! A scripted server.
//!
//! A transcript is a list of messages. `>>` is the next expected message of the client: an object that
//! the message must contain. `<<` is a message that the server then sends. In messages of the server,
//! `"$id"` is the id of the client's last request, `"$id-1"` that of the one before it, and so on.

use std::future::IntoFuture;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, ReadHalf, WriteHalf};
use turnbuckle_client::{
    Client, Connection,
    protocol::Revision,
    transport::{Duplex, duplex},
};

/// The server's side of the connection.
pub(crate) struct Server {
    lines: Lines<BufReader<ReadHalf<tokio::io::DuplexStream>>>,
    writer: WriteHalf<tokio::io::DuplexStream>,
    ids: Vec<Value>,
}

impl Server {
    /// Creates a server, and the pair of streams for the client.
    pub(crate) fn new() -> (Self, Duplex) {
        let (near, far) = duplex();
        let lines = BufReader::new(far.reader).lines();
        (
            Self {
                lines,
                writer: far.writer,
                ids: Vec::new(),
            },
            near,
        )
    }

    /// The next message of the client; `None` at the end.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        let message: Value = serde_json::from_str(&line).unwrap();
        if message.get("method").is_some()
            && let Some(id) = message.get("id")
        {
            self.ids.push(id.clone());
        }
        Some(message)
    }

    /// The next message of the client, which must contain `expected`.
    pub(crate) async fn expect(&mut self, expected: Value) -> Value {
        let heard = self
            .hear()
            .await
            .unwrap_or_else(|| panic!("expected {expected}, got the end"));
        assert!(
            contains(&heard, &expected),
            "expected {expected}\n     got {heard}"
        );
        heard
    }

    /// Sends a message.
    pub(crate) async fn say(&mut self, message: Value) {
        let line = self.with_ids(message).to_string() + "\n";
        self.writer.write_all(line.as_bytes()).await.unwrap();
    }

    /// Writes a line that is not a message.
    pub(crate) async fn babble(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// Answers the client's last request.
    pub(crate) async fn answer(&mut self, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": "$id", "result": result}))
            .await;
    }

    /// Plays a transcript.
    pub(crate) async fn play(&mut self, transcript: &str) {
        for entry in entries(transcript) {
            let (direction, text) = entry.split_at(2);
            let message = serde_json::from_str(text)
                .unwrap_or_else(|error| panic!("{error} in the transcript: {text}"));
            match direction {
                ">>" => drop(self.expect(message).await),
                "<<" => self.say(message).await,
                other => panic!("`{other}` begins no entry of a transcript"),
            }
        }
    }

    /// Opens the connection as a server of this revision would, and declares everything.
    pub(crate) async fn open(&mut self, revision: Revision) {
        self.open_with(revision, everything()).await;
    }

    /// Opens the connection with these capabilities. Returns the client's description of itself.
    pub(crate) async fn open_with(&mut self, revision: Revision, capabilities: Value) -> Value {
        let probe = self.expect(json!({"method": "server/discover"})).await;
        if revision.is_modern() {
            self.answer(json!({
                "resultType": "complete",
                "supportedVersions": [revision],
                "capabilities": capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
                "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "script", "version": "1"}},
            }))
            .await;
            return probe["params"]["_meta"].clone();
        }
        let error = json!({"code": -32601, "message": "what?"});
        self.say(json!({"jsonrpc": "2.0", "id": "$id", "error": error}))
            .await;
        let initialize = self.expect(json!({"method": "initialize"})).await;
        self.answer(json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "serverInfo": {"name": "script", "version": "1"},
        }))
        .await;
        self.expect(json!({"method": "notifications/initialized"}))
            .await;
        initialize["params"].clone()
    }

    fn with_ids(&self, message: Value) -> Value {
        match message {
            Value::String(text) if text.starts_with("$id") => {
                let back: usize = text[3..].trim_start_matches('-').parse().unwrap_or(0);
                self.ids[self.ids.len() - 1 - back].clone()
            }
            Value::Array(items) => items.into_iter().map(|item| self.with_ids(item)).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(name, value)| (name, self.with_ids(value)))
                .collect(),
            other => other,
        }
    }
}

/// The entries of a transcript. A line without an arrow continues the entry before.
fn entries(transcript: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in transcript
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match entries.last_mut() {
            Some(entry) if !line.starts_with(">>") && !line.starts_with("<<") => {
                entry.push_str(line);
            }
            _ => entries.push(line.to_owned()),
        }
    }
    entries
}

/// Every capability that a server can have, whatever the revision.
pub(crate) fn everything() -> Value {
    json!({
        "tools": {}, "prompts": {}, "resources": {"subscribe": true}, "completions": {}, "logging": {},
    })
}

/// Whether `value` contains everything in `part`.
fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => part
            .iter()
            .all(|(name, part)| value.get(name).is_some_and(|value| contains(value, part))),
        (value, part) => value == part,
    }
}

/// A client that has just connected to a server of this revision.
pub(crate) async fn meet(client: &Client, revision: Revision) -> (Connection, Server) {
    let (mut server, end) = Server::new();
    let (connection, ()) = tokio::join!(client.connect(end).into_future(), server.open(revision));
    (connection.unwrap(), server)
}

/// A client without settings.
pub(crate) fn plain() -> Client {
    Client::new("app", "1.0")
}

/// A result in the form of this revision.
pub(crate) fn complete(mut result: Value, revision: Revision) -> Value {
    if revision.is_modern() {
        result["resultType"] = "complete".into();
    }
    result
}
