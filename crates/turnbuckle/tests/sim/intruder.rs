//! A caller who has seen all requests of other callers, and sends them again with its own token.
//!
//! Requests name session ids, tasks, sealed states, answers to questions and streams of changes. None of them may
//! work for another caller, and an attempt must not disturb their owner.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf},
    task::JoinHandle,
};
use turnbuckle_testing::sim::{End, Random, SimulationRun};

/// The intruder's name, by its token.
const NAME: &str = "eve";

/// How many of the newest requests it chooses from: older ones name things that no longer exist.
const NEWEST: usize = 8;

/// How long it waits for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest pause between two attempts.
const REST: Duration = Duration::from_secs(4);

/// The requests of other callers that name something of theirs. Clones share the list.
#[derive(Clone, Default)]
pub(crate) struct SeenRequests(Arc<Mutex<Vec<Vec<u8>>>>);

impl SeenRequests {
    fn keep(&self, request: Vec<u8>) {
        if Owned::of(&request).is_some() {
            self.0.lock().expect("no panic").push(request);
        }
    }

    /// Removes and returns one of the newest requests, so that it is not tried again.
    fn take(&self, random: &mut Random) -> Option<Vec<u8>> {
        let mut requests = self.0.lock().expect("no panic");
        let newest = requests.len().min(NEWEST);
        let at = requests.len() - newest + usize::try_from(random.below(newest as u64)).ok()?;
        (at < requests.len()).then(|| requests.remove(at))
    }
}

/// The thing in a request that belongs to its sender.
#[derive(Debug)]
enum Owned {
    /// A session, in a header or in the URL.
    Session,
    /// A task or a sealed state, in the body.
    Part,
}

impl Owned {
    fn of(request: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(request);
        let (head, body) = text.split_once("\r\n\r\n")?;
        let line = head.lines().next()?;
        let has_session = head.to_ascii_lowercase().contains("\r\nmcp-session-id:");
        if has_session || line.contains('?') {
            Some(Self::Session)
        } else if ["\"requestState\":", "\"taskId\":"]
            .iter()
            .any(|name| body.contains(name))
        {
            Some(Self::Part)
        } else {
            None
        }
    }

    /// Whether an answer gives the intruder access to it.
    fn is_given(&self, answer: &str) -> bool {
        match self {
            Self::Session => answer.starts_with("HTTP/1.1 2"),
            Self::Part => answer.contains("\"result\":"),
        }
    }
}

/// Another caller's connection, which the intruder reads.
pub(crate) struct Watched {
    end: End,
    seen: SeenRequests,
    /// The start of a request that is not complete yet.
    written: Vec<u8>,
}

impl Watched {
    pub(crate) fn new(end: End, seen: &SeenRequests) -> Self {
        Self {
            end,
            seen: seen.clone(),
            written: Vec::new(),
        }
    }

    fn see(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        while let Some(length) = first_request(&self.written) {
            self.seen.keep(self.written.drain(..length).collect());
        }
    }
}

/// The length of the first request, if it is complete.
fn first_request(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let body = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| {
            length.trim().parse().expect("clients write lengths")
        });
    (bytes.len() >= head + body).then_some(head + body)
}

impl AsyncRead for Watched {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().end).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let watched = self.get_mut();
        let written = Pin::new(&mut watched.end).poll_write(cx, bytes);
        if let Poll::Ready(Ok(count)) = written {
            watched.see(&bytes[..count]);
        }
        written
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().end).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().end).poll_shutdown(cx)
    }
}

/// A running intruder.
pub(crate) struct Intruder {
    is_over: Arc<AtomicBool>,
    work: JoinHandle<()>,
}

impl Intruder {
    /// Tries the requests in `seen` on these servers until it is stopped.
    pub(crate) fn start(
        run: &SimulationRun,
        seen: &SeenRequests,
        servers: &'static [&'static str],
    ) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (stop, away, seen) = (Arc::clone(&is_over), run.clone(), seen.clone());
        let mut random = run.random();
        let work = run.spawn(NAME, async move {
            while !stop.load(Ordering::Relaxed) {
                tokio::time::sleep(random.time(REST)).await;
                if let Some(request) = seen.take(&mut random) {
                    let server: &&str = random.pick(servers);
                    attempt(&away, server, &request).await;
                }
            }
        });
        Self { is_over, work }
    }

    pub(crate) async fn stop(self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = self.work.await;
    }
}

/// Sends a request of another caller with the intruder's own token.
async fn attempt(run: &SimulationRun, server: &str, request: &[u8]) {
    let text = String::from_utf8_lossy(request);
    let owned = Owned::of(request).expect("nothing else is kept");
    let line = text.lines().next().unwrap_or_default().to_owned();
    let lines = text.split("\r\n").map(|line| {
        if line.to_ascii_lowercase().starts_with("authorization:") {
            format!("authorization: Bearer {NAME}\r\nconnection: close")
        } else {
            line.to_owned()
        }
    });
    let request = lines.collect::<Vec<_>>().join("\r\n");
    let mut answer = Vec::new();
    // The network may cut the connection; the part of the answer that arrived is judged.
    let trying = async {
        let mut end = run.network().dial(server).await?;
        end.write_all(request.as_bytes()).await?;
        end.read_to_end(&mut answer).await
    };
    let _ = tokio::time::timeout(ANSWER_TIMEOUT, trying).await;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.get(9..12).unwrap_or("cut");
    run.note(format_args!("{NAME} tries a {owned:?}: {status}"));
    if owned.is_given(&answer) {
        // Without the ids, which differ from run to run.
        let method = line.split(' ').next().unwrap_or_default();
        run.problem(format_args!(
            "{NAME} is given what others own, for {method}: {status}"
        ));
    }
}
