//! An HTTP/1.1 client that sends exactly the given bytes, and returns exactly what it receives.

use std::{collections::VecDeque, net::SocketAddr, time::Instant};

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use turnbuckle_transport::http::sse::{Decoder, Event};

use super::ask::Ask;
use crate::wire::TIMEOUT;

/// A connection.
pub(crate) struct Raw<I = TcpStream> {
    pub(crate) io: I,
    read: Vec<u8>,
    decoder: Decoder,
    events: VecDeque<Event>,
}

/// The head of a response.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

/// A whole response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::over(
            TcpStream::connect(address)
                .await
                .expect("the server is there"),
        )
    }

    /// Opens a connection and sends this request.
    pub(crate) async fn asking(address: SocketAddr, ask: Ask) -> Self {
        let mut raw = Self::connect(address).await;
        raw.send(&ask.to_bytes()).await;
        raw
    }

    /// Opens a connection and sends this request, which must be answered with a stream of events.
    pub(crate) async fn streaming(address: SocketAddr, ask: Ask) -> Self {
        let mut raw = Self::asking(address, ask).await;
        raw.expect_stream().await;
        raw
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> Raw<I> {
    pub(crate) fn over(io: I) -> Self {
        Self {
            io,
            read: Vec::new(),
            decoder: Decoder::new(),
            events: VecDeque::new(),
        }
    }

    /// Sends bytes. It is no error if the server has closed the connection.
    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        let _ = self.io.write_all(bytes).await;
        let _ = self.io.flush().await;
    }

    /// Sends a request, and reads the whole response.
    pub(crate) async fn ask(&mut self, ask: Ask) -> Answer {
        self.send(&ask.to_bytes()).await;
        self.answer().await
    }

    /// Reads a whole response.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        let mut body = Vec::new();
        if let Some(length) = head.get("content-length") {
            let length: usize = length.parse().expect("a length");
            while self.read.len() < length {
                assert!(self.more().await, "the body is cut off");
            }
            body.extend(self.read.drain(..length));
        } else if head.get("transfer-encoding").is_some() {
            while let Some(piece) = self.piece().await {
                body.extend(piece);
            }
        }
        Answer { head, body }
    }

    /// Reads the head of a response, which must begin a stream of events.
    pub(crate) async fn expect_stream(&mut self) -> Head {
        let head = self.head().await;
        let kind = head.get("content-type");
        let read = self.read.escape_ascii();
        assert_eq!(kind, Some("text/event-stream"), "{head:?} {read}");
        head
    }

    /// Reads the head of a response.
    pub(crate) async fn head(&mut self) -> Head {
        let text = self.until(b"\r\n\r\n").await;
        let text = String::from_utf8(text).expect("a head is text");
        let mut lines = text.lines();
        let status = lines.next().and_then(|line| line.get(9..12)).unwrap_or("");
        let headers = lines.filter_map(|line| line.split_once(": "));
        Head {
            status: status.parse().expect("a status"),
            headers: headers
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect(),
        }
    }

    /// Returns the next event of a stream; `None` if the stream ends.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        let start = Instant::now();
        while self.events.is_empty() {
            assert!(start.elapsed() < TIMEOUT, "nothing but comments");
            let piece = self.piece().await?;
            self.decoder.feed(&piece, &mut self.events).expect("events");
        }
        self.events.pop_front()
    }

    /// Returns the next message of a stream, which must not end before.
    pub(crate) async fn message(&mut self) -> Value {
        loop {
            let event = self.event().await.expect("the stream goes on");
            if !event.data.is_empty() {
                return serde_json::from_str(&event.data).expect("data is JSON");
            }
        }
    }

    /// Returns all remaining events of a stream.
    pub(crate) async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }

    /// Returns all events until the stream ends, or is cut off because it is read too slowly.
    pub(crate) async fn rest_or_cut(&mut self) -> Vec<Event> {
        while self.has_piece().await {
            let Some(piece) = self.piece().await else {
                break;
            };
            self.decoder.feed(&piece, &mut self.events).expect("events");
        }
        self.events.drain(..).collect()
    }

    /// Waits for a whole chunk. Returns `false` if the connection closes before.
    async fn has_piece(&mut self) -> bool {
        while !begins_with_piece(&self.read) {
            if !self.more().await {
                return false;
            }
        }
        true
    }

    /// Returns the next chunk of a body; `None` at its end.
    pub(crate) async fn piece(&mut self) -> Option<Vec<u8>> {
        let line = self.until(b"\r\n").await;
        let length = std::str::from_utf8(&line[..line.len() - 2]).expect("a chunk's length");
        let length = usize::from_str_radix(length, 16).expect("a chunk's length");
        while self.read.len() < length + 2 {
            assert!(self.more().await, "a chunk is cut off");
        }
        let mut piece: Vec<u8> = self.read.drain(..length + 2).collect();
        piece.truncate(length);
        (length > 0).then_some(piece)
    }

    /// Waits until the server closes the connection, and returns what was received before.
    pub(crate) async fn closed(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.read)
    }

    async fn until(&mut self, end: &[u8]) -> Vec<u8> {
        loop {
            let found = self.read.windows(end.len()).position(|part| part == end);
            if let Some(at) = found {
                return self.read.drain(..at + end.len()).collect();
            }
            let read = self.more().await;
            assert!(read, "closed too early: {}", self.read.escape_ascii());
        }
    }

    /// Reads available bytes. Returns whether the connection is still open.
    async fn more(&mut self) -> bool {
        let read = timeout(TIMEOUT, self.io.read_buf(&mut self.read)).await;
        // A connection that is cut off may also be reset.
        read.expect("something comes, or the end").unwrap_or(0) > 0
    }
}

impl Head {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name)?;
        Some(&found.1)
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the body, which must be one JSON message with the right media type.
    pub(crate) fn json(&self) -> Value {
        let kind = self.head.get("content-type");
        assert_eq!(kind, Some("application/json"), "{}", self.text());
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    /// Returns the code of the error in the body.
    pub(crate) fn code(&self) -> i64 {
        let code = &self.json()["error"]["code"];
        code.as_i64()
            .unwrap_or_else(|| panic!("no error: {}", self.text()))
    }

    /// Returns the events of a body that was a stream.
    pub(crate) fn events(&self) -> Vec<Event> {
        assert_eq!(self.head.get("content-type"), Some("text/event-stream"));
        let mut events = Vec::new();
        Decoder::new()
            .feed(&self.body, &mut events)
            .expect("events");
        events
    }
}

/// Whether a whole chunk has been read. Other bytes are left to the caller.
fn begins_with_piece(read: &[u8]) -> bool {
    let Some(at) = read.windows(2).position(|part| part == b"\r\n") else {
        return false;
    };
    let length = std::str::from_utf8(&read[..at]).ok();
    let length = length.and_then(|it| usize::from_str_radix(it, 16).ok());
    length.is_none_or(|it| read.len() >= at + 2 + it + 2)
}
