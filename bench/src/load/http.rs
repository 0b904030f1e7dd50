//! Load over HTTP: requests come from a template, and only the framing of answers is parsed.

use std::{fmt::Write, net::SocketAddr, rc::Rc, time::Instant};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    call::{self, Call, Era, Front},
    tally::{CHECKED, Measured, SLACK, Tally, Until},
};
use crate::Result;

/// The initial size of a connection's buffer for answers, in bytes.
const BUFFER: usize = 16 * 1024;

/// Drives a server that listens, with this many concurrent clients, each with its own connection, and
/// with its own session if the era has sessions.
pub(crate) async fn drive(
    (pid, address): (u32, SocketAddr),
    call: Call,
    clients: usize,
    until: Until,
) -> Result<Measured> {
    let run = async {
        let mut ready = Vec::with_capacity(clients);
        for _ in 0..clients {
            ready.push(Client::open(address, call).await?);
        }
        let tally = Rc::new(Tally::new(until));
        let mut span = tally.begin(pid);
        let mut loops = JoinSet::new();
        for client in ready {
            loops.spawn_local(client.repeat(Rc::clone(&tally)));
        }
        if let Until::Elapsed { warm, measured } = until {
            sleep(warm).await;
            span = tally.begin(pid);
            sleep(measured).await;
        }
        let timed = matches!(until, Until::Elapsed { .. }).then(|| tally.finish(&span));
        while let Some(ended) = loops.join_next().await {
            ended??;
        }
        timed.unwrap_or_else(|| tally.finish(&span))
    };
    timeout(until.deadline(), run)
        .await
        .map_err(|_| format!("{call:?} by {clients} clients took too long"))?
}

/// A client that sends the same call again and again.
struct Client {
    connection: Connection,
    call: Call,
    request: Vec<u8>,
    body_at: usize,
}

impl Client {
    async fn open(address: SocketAddr, call: Call) -> Result<Self> {
        let mut connection = Connection::open_at(address, call.front.path).await?;
        let headers = match call.era {
            Era::Legacy => match connection.greet().await? {
                Some(session) => session_headers(&session),
                None => "mcp-protocol-version: 2025-11-25\r\n".to_owned(),
            },
            Era::Modern => modern_headers(call.method(), call.tool().as_deref()),
        };
        let message = call.message();
        let request = connection.post(&headers, &message);
        let body_at = request.len() - message.len();
        Ok(Self {
            connection,
            call,
            request,
            body_at,
        })
    }

    async fn repeat(mut self, tally: Rc<Tally>) -> Result<()> {
        let mut usual = 0;
        let mut turn = 0;
        while let Some(id) = tally.next() {
            call::number(&mut self.request[self.body_at..], id);
            let is_checked = turn % CHECKED == 0;
            turn += 1;
            let mut body = Vec::new();
            let began = Instant::now();
            let keep = is_checked.then_some(&mut body);
            let answer = self.connection.exchange(&self.request, keep).await?;
            tally.record(began.elapsed());
            if is_checked {
                answer.expect(200, &body)?;
                self.call.check(&call::parse(&body)?, id)?;
                usual = answer.length;
            } else if answer.status != 200 || answer.length.abs_diff(usual) > SLACK {
                let Answer { status, length, .. } = answer;
                return Err(format!("status {status}, {length} bytes instead of {usual}").into());
            }
        }
        Ok(())
    }
}

/// The head of an answer, and the length of its body.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) length: usize,
    session: Option<String>,
}

impl Answer {
    pub(crate) fn expect(&self, status: u16, body: &[u8]) -> Result<()> {
        if self.status == status {
            return Ok(());
        }
        let body = String::from_utf8_lossy(&body[..body.len().min(300)]);
        Err(format!("status {} instead of {status}: {body}", self.status).into())
    }
}

/// A hand-written HTTP/1.1 connection.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    address: SocketAddr,
    path: &'static str,
    buffer: Vec<u8>,
    filled: usize,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> Result<Self> {
        Self::open_at(address, Front::USUAL.path).await
    }

    pub(crate) async fn open_at(address: SocketAddr, path: &'static str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            address,
            path,
            buffer: vec![0; BUFFER],
            filled: 0,
        })
    }

    /// Opens a session, and returns its id.
    pub(crate) async fn handshake(&mut self) -> Result<String> {
        let session = self.greet().await?;
        Ok(session.ok_or("`initialize` gave no session id")?)
    }

    /// Opens the connection to the server, and returns the id of the session if there is one.
    pub(crate) async fn greet(&mut self) -> Result<Option<String>> {
        let mut body = Vec::new();
        let opening = self.post("", &call::initialize());
        let answer = self.exchange(&opening, Some(&mut body)).await?;
        answer.expect(200, &body)?;
        let headers = answer.session.as_deref().map(session_headers);
        let told = self.post(&headers.unwrap_or_default(), call::INITIALIZED);
        body.clear();
        let accepted = self.exchange(&told, Some(&mut body)).await?;
        accepted.expect(202, &body)?;
        Ok(answer.session)
    }

    /// A complete request. `headers` are lines, each with its line end.
    pub(crate) fn post(&self, headers: &str, body: &[u8]) -> Vec<u8> {
        let (address, path, length) = (self.address, self.path, body.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {length}\r\n\r\n"
        );
        [head.as_bytes(), body].concat()
    }

    /// Sends a request and reads the answer; the body is written to `keep`.
    pub(crate) async fn exchange(
        &mut self,
        request: &[u8],
        keep: Option<&mut Vec<u8>>,
    ) -> Result<Answer> {
        self.stream.write_all(request).await?;
        let head = loop {
            if let Some(head) = Head::parse(&self.buffer[..self.filled])? {
                break head;
            }
            self.fill().await?;
        };
        let (length, end) = match head.length {
            Some(length) => self.whole(head.end, length, keep).await?,
            None => self.chunks(head.end, keep).await?,
        };
        self.buffer.copy_within(end..self.filled, 0);
        self.filled -= end;
        Ok(Answer {
            status: head.status,
            length,
            session: head.session,
        })
    }

    async fn whole(
        &mut self,
        start: usize,
        length: usize,
        keep: Option<&mut Vec<u8>>,
    ) -> Result<(usize, usize)> {
        let end = start + length;
        while self.filled < end {
            self.fill().await?;
        }
        if let Some(keep) = keep {
            keep.extend_from_slice(&self.buffer[start..end]);
        }
        Ok((length, end))
    }

    async fn chunks(
        &mut self,
        start: usize,
        mut keep: Option<&mut Vec<u8>>,
    ) -> Result<(usize, usize)> {
        let (mut at, mut total) = (start, 0);
        loop {
            let line = loop {
                match memchr::memchr(b'\n', &self.buffer[at..self.filled]) {
                    Some(length) => break at..at + length,
                    None => self.fill().await?,
                }
            };
            let size = std::str::from_utf8(&self.buffer[line.clone()])?;
            let size = size.trim().split(';').next().unwrap_or_default();
            let size = usize::from_str_radix(size, 16)?;
            at = line.end + 1;
            while self.filled < at + size + 2 {
                self.fill().await?;
            }
            if let Some(keep) = keep.as_deref_mut() {
                keep.extend_from_slice(&self.buffer[at..at + size]);
            }
            at += size + 2;
            total += size;
            if size == 0 {
                return Ok((total, at));
            }
        }
    }

    async fn fill(&mut self) -> Result<()> {
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..]).await? {
            0 => Err("the server closed the connection".into()),
            read => {
                self.filled += read;
                Ok(())
            }
        }
    }
}

/// The parts of a head that the generator needs.
struct Head {
    status: u16,
    length: Option<usize>,
    session: Option<String>,
    end: usize,
}

impl Head {
    /// `None` if the head is not complete yet.
    fn parse(bytes: &[u8]) -> Result<Option<Self>> {
        let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") else {
            return Ok(None);
        };
        let mut lines = std::str::from_utf8(&bytes[..end])?.split("\r\n");
        let status = lines.next().and_then(|it| it.split(' ').nth(1));
        let mut head = Self {
            status: status.ok_or("the answer has no status")?.parse()?,
            length: None,
            session: None,
            end: end + 4,
        };
        let mut is_chunked = false;
        for (name, value) in lines.filter_map(|it| it.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                head.length = Some(value.trim().parse()?);
            } else if name.eq_ignore_ascii_case("mcp-session-id") {
                head.session = Some(value.trim().to_owned());
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                is_chunked = true;
            }
        }
        // A message that was accepted without an answer has no body.
        if matches!(head.status, 202 | 204) && !is_chunked {
            head.length.get_or_insert(0);
        }
        Ok(Some(head))
    }
}

pub(crate) fn session_headers(session: &str) -> String {
    format!("mcp-protocol-version: 2025-11-25\r\nmcp-session-id: {session}\r\n")
}

pub(crate) fn modern_headers(method: &str, tool: Option<&str>) -> String {
    let mut headers = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n");
    if let Some(tool) = tool {
        let _ = write!(headers, "mcp-name: {tool}\r\n");
    }
    headers
}
