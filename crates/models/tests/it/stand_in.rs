//! A fake model API on a real socket.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// 20 s for everything that a test waits for.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A reply to a request.
#[derive(Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    cuts: Cuts,
    is_broken_off: bool,
}

/// How the body is split into pieces.
#[derive(Clone, Copy)]
enum Cuts {
    Whole,
    /// Each byte separately.
    EveryByte,
    /// Two pieces.
    At(usize),
}

impl Reply {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", kind.to_owned())],
            body: body.into(),
            cuts: Cuts::Whole,
            is_broken_off: false,
        }
    }

    pub(crate) fn events(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", body)
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn cut_at_every_byte(mut self) -> Self {
        self.cuts = Cuts::EveryByte;
        self
    }

    pub(crate) fn cut_at(mut self, at: usize) -> Self {
        self.cuts = Cuts::At(at);
        self
    }

    /// Closes the connection before the body is complete.
    pub(crate) fn broken_off(mut self) -> Self {
        self.is_broken_off = true;
        self
    }

    fn write(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let mut head = format!(
            "HTTP/1.1 {} Said\r\ntransfer-encoding: chunked\r\n",
            self.status
        );
        for (name, value) in &self.headers {
            head += format!("{name}: {value}\r\n").as_str();
        }
        stream.write_all((head + "\r\n").as_bytes())?;
        let size = match self.cuts {
            Cuts::EveryByte => 1,
            Cuts::Whole | Cuts::At(_) => self.body.len().max(1),
        };
        let (first, second) = match self.cuts {
            Cuts::At(at) => self.body.split_at(at),
            _ => (&self.body[..], &[][..]),
        };
        for piece in first.chunks(size).chain(second.chunks(size)) {
            write!(stream, "{:x}\r\n", piece.len())?;
            stream.write_all(piece)?;
            stream.write_all(b"\r\n")?;
            stream.flush()?;
        }
        if !self.is_broken_off {
            stream.write_all(b"0\r\n\r\n")?;
        }
        stream.flush()
    }
}

/// A received request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A fake API with a list of replies. It ends when they are used up.
pub(crate) struct StandIn {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl StandIn {
    /// Answers one request with each reply, and checks each request's shape.
    pub(crate) fn start(shape: fn(&Value), replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let replies: VecDeque<Reply> = replies.into_iter().collect();
        let replies = Arc::new(Mutex::new(replies));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            while !replies.lock().expect("no test panicked in it").is_empty() {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                let (replies, kept) = (Arc::clone(&replies), Arc::clone(&kept));
                std::thread::spawn(move || serve(stream, shape, &replies, &kept));
            }
        });
        Self { url, requests }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests
            .lock()
            .expect("no test panicked in it")
            .clone()
    }

    #[track_caller]
    pub(crate) fn only_request(&self) -> Request {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

/// Answers the requests on one connection.
fn serve(
    stream: TcpStream,
    shape: fn(&Value),
    replies: &Mutex<VecDeque<Reply>>,
    kept: &Mutex<Vec<Request>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        let checked = std::panic::catch_unwind(|| shape(&request.body));
        kept.lock().expect("no test panicked in it").push(request);
        if let Err(wrong) = checked {
            let said = wrong.downcast_ref::<String>().cloned().unwrap_or_default();
            let body = serde_json::json!({"error": {"message": format!("shape: {said}")}});
            replies.lock().expect("no test panicked in it").clear();
            return Reply::json(400, &body).write(&mut writer);
        }
        let next = replies.lock().expect("no test panicked in it").pop_front();
        let Some(reply) = next else {
            return Ok(());
        };
        reply.write(&mut writer)?;
        if reply.is_broken_off {
            return Ok(());
        }
    }
    Ok(())
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut first = String::new();
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length
        .and_then(|(_, length)| length.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Request {
        path,
        headers,
        body,
    }))
}
