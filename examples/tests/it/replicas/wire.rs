//! Hand-written requests of a session, so that a test decides which replica gets which request.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::TIMEOUT;

/// An answer while it arrives.
pub(super) struct Reading {
    stream: TcpStream,
    pub(super) status: u16,
    head: String,
    body: String,
    read: usize,
}

/// Sends a request on a new connection, and reads the head of the answer.
pub(super) async fn ask(
    address: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Reading {
    let asked = try_ask(address, method, headers, body).await;
    asked.expect("it is answered")
}

/// The same, if the server may end in between.
pub(super) async fn try_ask(
    address: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> std::io::Result<Reading> {
    let asking = async {
        let mut stream = TcpStream::connect(address).await?;
        let mut request = format!(
            "{method} /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        if headers.iter().all(|(name, _)| *name != "accept") {
            request.push_str("accept: application/json, text/event-stream\r\n");
        }
        request.extend(["\r\n", body]);
        stream.write_all(request.as_bytes()).await?;
        let mut text = Vec::new();
        let end = loop {
            if let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
                break end;
            }
            if stream.read_buf(&mut text).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        };
        let head = String::from_utf8(text[..end].to_vec()).expect("a head is ASCII");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Ok(Reading {
            stream,
            status: status.expect("a status"),
            head,
            body: String::from_utf8(text[end + 4..].to_vec()).expect("UTF-8"),
            read: 0,
        })
    };
    timeout(TIMEOUT, asking)
        .await
        .expect("it is answered in time")
}

impl Reading {
    /// A header of the answer.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| {
            let (own, value) = line.split_once(": ")?;
            own.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Reads more of the body; false at its end.
    async fn more(&mut self) -> bool {
        let mut bytes = Vec::new();
        let read = timeout(TIMEOUT, self.stream.read_buf(&mut bytes)).await;
        let is_more = matches!(read.expect("it comes in time"), Ok(read) if read > 0);
        self.body.push_str(&String::from_utf8_lossy(&bytes));
        is_more
    }

    /// The next event with a message: its id and the message. `None` at the end.
    pub(super) async fn message(&mut self) -> Option<(String, Value)> {
        loop {
            let rest = &self.body[self.read..];
            let Some(end) = rest.find("\n\n") else {
                if !self.more().await {
                    return None;
                }
                continue;
            };
            let event = rest[..end].to_owned();
            self.read += end + 2;
            let field = |name: &str| {
                let mut lines = event.lines();
                lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
            };
            let data = field("data: ").filter(|data| !data.is_empty());
            if let Some(data) = data {
                let message = serde_json::from_str(&data).expect("data is JSON");
                return Some((field("id: ").unwrap_or_default(), message));
            }
        }
    }

    /// Whether the answer is a stream.
    pub(super) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The answer to the request with this id, as the whole body or on a stream.
    pub(super) async fn result(mut self, id: u64) -> Value {
        if self.is_stream() {
            loop {
                let (_, message) = self.message().await.expect("an answer");
                if message["id"] == id {
                    return message;
                }
            }
        }
        self.whole().await.expect("an answer")
    }

    /// The JSON of an answer that is not a stream; `None` if it is incomplete.
    pub(super) async fn whole(mut self) -> Option<Value> {
        while self.more().await {}
        let start = self.body.find('{')?;
        let end = self.body.rfind('}')?;
        serde_json::from_str(self.body.get(start..=end)?).ok()
    }
}

/// A session.
pub(super) struct Session {
    pub(super) id: String,
    revision: &'static str,
}

impl Session {
    /// Opens a session of a client that supports forms.
    pub(super) async fn open(address: &str, revision: &'static str) -> Self {
        let initialize = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": revision,
                "capabilities": { "elicitation": {} },
                "clientInfo": { "name": "raw", "version": "1" },
            },
        });
        let answer = ask(address, "POST", &[], &initialize.to_string()).await;
        assert_eq!(answer.status, 200);
        let id = answer
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let session = Self { id, revision };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(address, ready).await.status, 202);
        session
    }

    pub(super) async fn post(&self, address: &str, message: Value) -> Reading {
        self.ask(address, "POST", &[], &message.to_string()).await
    }

    pub(super) async fn call(&self, address: &str, id: u64, tool: &str) -> Reading {
        let params = json!({
            "name": tool, "arguments": {}, "_meta": { "progressToken": id },
        });
        let message =
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        self.post(address, message).await
    }

    pub(super) async fn resume(&self, address: &str, last: &str) -> Reading {
        let headers = [("accept", "text/event-stream"), ("last-event-id", last)];
        self.ask(address, "GET", &headers, "").await
    }

    pub(super) async fn end(&self, address: &str) -> u16 {
        self.ask(address, "DELETE", &[], "").await.status
    }

    async fn ask(&self, address: &str, method: &str, more: &[(&str, &str)], body: &str) -> Reading {
        let asked = self.try_ask(address, method, more, body).await;
        asked.expect("it is answered")
    }

    /// Sends a request of the session, if the server may end in between.
    pub(super) async fn try_ask(
        &self,
        address: &str,
        method: &str,
        more: &[(&str, &str)],
        body: &str,
    ) -> std::io::Result<Reading> {
        let mut headers = vec![
            ("mcp-session-id", &*self.id),
            ("mcp-protocol-version", self.revision),
        ];
        headers.extend_from_slice(more);
        try_ask(address, method, &headers, body).await
    }
}
