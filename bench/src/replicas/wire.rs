//! Hand-written requests, each on its own connection, with the answer as it arrives.

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout_at},
};

use super::history::Trouble;

/// Statuses of the server or of a load balancer that mean to try again.
const AGAIN: [u16; 4] = [429, 502, 503, 504];

/// A request.
pub(super) struct Outgoing<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) headers: &'a [(&'a str, &'a str)],
    pub(super) body: &'a str,
}

/// An answer as it arrives.
pub(super) struct Arrival {
    stream: TcpStream,
    pub(super) status: u16,
    head: String,
    /// Bytes that were read and not decoded yet.
    raw: Vec<u8>,
    /// Bytes that were decoded and not used yet.
    body: Vec<u8>,
    framing: Framing,
}

enum Framing {
    Chunks,
    /// This many bytes follow.
    Length(usize),
    Ended,
}

/// An event of a stream.
pub(super) struct Sse {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) data: String,
}

impl Sse {
    /// The message in the event; `None` for an event without one.
    pub(super) fn message(&self) -> Result<Option<Value>, Trouble> {
        if self.data.is_empty() {
            return Ok(None);
        }
        let message = serde_json::from_str(&self.data);
        message
            .map(Some)
            .map_err(|error| Trouble::Odd(format!("{error}: {}", self.data)))
    }
}

/// Sends a request and reads the head of the answer. A status that means to try again becomes trouble.
pub(super) async fn send(
    address: &str,
    outgoing: &Outgoing<'_>,
    deadline: Instant,
) -> Result<Arrival, Trouble> {
    let sending = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(&text(outgoing)).await?;
        let mut raw = Vec::new();
        loop {
            if let Some(end) = memchr::memmem::find(&raw, b"\r\n\r\n") {
                return Ok((stream, raw, end));
            }
            if stream.read_buf(&mut raw).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
    };
    let sent: std::io::Result<_> = timeout_at(deadline, sending)
        .await
        .map_err(|_| Trouble::Hung)?;
    let (stream, mut raw, end) = sent.map_err(|_| Trouble::Broken)?;
    let rest = raw.split_off(end + 4);
    let head = String::from_utf8_lossy(&raw).into_owned();
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
    let mut arrival = Arrival {
        stream,
        status: status.ok_or_else(|| Trouble::Odd(head.clone()))?,
        head,
        raw: rest,
        body: Vec::new(),
        framing: Framing::Ended,
    };
    arrival.framing = if arrival.header("transfer-encoding").is_some() {
        Framing::Chunks
    } else {
        let length = arrival.header("content-length");
        match length.and_then(|length| length.parse().ok()) {
            Some(length) => Framing::Length(length),
            None => Framing::Ended,
        }
    };
    if AGAIN.contains(&arrival.status) {
        return Err(Trouble::Refused(arrival.status));
    }
    Ok(arrival)
}

fn text(outgoing: &Outgoing<'_>) -> Vec<u8> {
    let Outgoing {
        method,
        path,
        headers,
        body,
    } = outgoing;
    let mut request = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in *headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.extend(["\r\n", body]);
    request.into_bytes()
}

impl Arrival {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    pub(super) fn is_stream(&self) -> bool {
        self.header("content-type")
            .is_some_and(|media| media.starts_with("text/event-stream"))
    }

    /// Decodes the bytes that were read; false if more are needed.
    fn decode(&mut self) -> Result<bool, Trouble> {
        match self.framing {
            Framing::Ended => Ok(true),
            Framing::Length(left) => {
                let taken = left.min(self.raw.len());
                self.body.extend(self.raw.drain(..taken));
                self.framing = if taken == left {
                    Framing::Ended
                } else {
                    Framing::Length(left - taken)
                };
                Ok(taken > 0 || left == 0)
            }
            Framing::Chunks => {
                let Some(line) = memchr::memmem::find(&self.raw, b"\r\n") else {
                    return Ok(false);
                };
                let odd = || Trouble::Odd("a chunk without a size".into());
                let size = std::str::from_utf8(&self.raw[..line]).map_err(|_| odd())?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(|_| odd())?;
                let (start, end) = (line + 2, line + 2 + size);
                if self.raw.len() < end + 2 {
                    return Ok(false);
                }
                self.body.extend_from_slice(&self.raw[start..end]);
                self.raw.drain(..end + 2);
                if size == 0 {
                    self.framing = Framing::Ended;
                }
                Ok(true)
            }
        }
    }

    /// Reads more; false at the end.
    async fn more(&mut self, deadline: Instant) -> Result<bool, Trouble> {
        loop {
            if matches!(self.framing, Framing::Ended) {
                return Ok(false);
            }
            if self.decode()? {
                return Ok(true);
            }
            let read = timeout_at(deadline, self.stream.read_buf(&mut self.raw)).await;
            match read.map_err(|_| Trouble::Hung)? {
                Ok(1..) => {}
                Ok(0) | Err(_) => return Err(Trouble::Broken),
            }
        }
    }

    /// The rest of the body.
    pub(super) async fn rest(mut self, deadline: Instant) -> Result<String, Trouble> {
        while self.more(deadline).await? {}
        Ok(String::from_utf8_lossy(&self.body).into_owned())
    }

    /// The next event of a stream; `None` at its end.
    pub(super) async fn event(&mut self, deadline: Instant) -> Result<Option<Sse>, Trouble> {
        loop {
            if let Some(end) = memchr::memmem::find(&self.body, b"\n\n") {
                let event: Vec<u8> = self.body.drain(..end + 2).collect();
                let event = String::from_utf8_lossy(&event).into_owned();
                if let Some(event) = parse(&event) {
                    return Ok(Some(event));
                }
            } else if !self.more(deadline).await? {
                return Ok(None);
            }
        }
    }
}

/// Parses an event; `None` for a comment.
fn parse(text: &str) -> Option<Sse> {
    let field = |name: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim_start()))
    };
    let (id, name, data) = (field("id"), field("event"), field("data"));
    if id.is_none() && data.is_none() {
        return None;
    }
    Some(Sse {
        id: id.map(str::to_owned),
        name: name.map(str::to_owned),
        data: data.unwrap_or_default().to_owned(),
    })
}
