//! A connection in memory to a server that answers the first request with given bytes.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How much of a request a stalling server takes before it has sent its answer.
const STALLED_AT: usize = 10;

/// What the server does after its bytes.
#[derive(Clone, Copy, PartialEq)]
pub enum Closing {
    /// It keeps the connection open.
    Never,
    End,
    Reset,
}

/// The client's end of the connection. Clones are the same connection.
#[derive(Clone)]
pub struct Wire(Arc<Mutex<Server>>);

struct Server {
    answer: Arc<[u8]>,
    /// How many bytes were read.
    at: usize,
    closing: Closing,
    /// The sizes of pieces, in turns.
    cuts: [usize; 2],
    is_late: bool,
    /// Whether the next piece was waited for.
    has_waited: bool,
    stalls: bool,
    was_stalled: bool,
    /// How many bytes of requests were written.
    written: usize,
    /// Who waits to read or to write.
    waiting: Option<Waker>,
    /// The answer to the next request, before that request and after it.
    prepared: Option<&'static [u8]>,
    next: Option<&'static [u8]>,
}

impl Wire {
    pub fn new(answer: &Arc<[u8]>, closing: Closing) -> Self {
        Self(Arc::new(Mutex::new(Server {
            answer: Arc::clone(answer),
            at: 0,
            closing,
            cuts: [usize::MAX; 2],
            is_late: false,
            has_waited: false,
            stalls: false,
            was_stalled: false,
            written: 0,
            waiting: None,
            prepared: None,
            next: None,
        })))
    }

    /// Delivers pieces of these sizes.
    pub fn in_pieces(self, cuts: [usize; 2]) -> Self {
        self.server().cuts = cuts;
        self
    }

    /// Lets the client wait for each piece.
    pub fn that_come_late(self) -> Self {
        self.server().is_late = true;
        self
    }

    /// Sends the whole answer before it receives the whole request.
    pub fn that_stalls_the_request(self) -> Self {
        self.server().stalls = true;
        self
    }

    /// Whether the client could not write its whole request at once.
    pub fn was_request_stalled(&self) -> bool {
        self.server().was_stalled
    }

    /// Whether bytes of the answer are still to come and cannot be seen yet.
    pub fn has_late_bytes(&self) -> bool {
        let server = self.server();
        server.is_late && server.at < server.answer.len()
    }

    /// Answers the next request with this, after what is left of the first answer.
    pub fn prepare_another(&self, answer: &'static [u8]) {
        self.server().prepared = Some(answer);
    }

    fn server(&self) -> MutexGuard<'_, Server> {
        self.0.lock().expect("nothing panics with it")
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let server = &mut *self.server();
        let left = server.answer.len() - server.at;
        if server.written == 0 {
            server.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if left == 0 {
            return match (server.closing, server.next.take()) {
                (Closing::End, _) => Poll::Ready(Ok(())),
                (Closing::Reset, _) => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
                (Closing::Never, None) => Poll::Pending,
                (Closing::Never, Some(next)) => {
                    buffer.put_slice(next);
                    Poll::Ready(Ok(()))
                }
            };
        }
        if server.is_late && !server.has_waited {
            server.has_waited = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        server.has_waited = false;
        let size = left.min(server.cuts[0]).min(buffer.remaining());
        buffer.put_slice(&server.answer[server.at..][..size]);
        server.at += size;
        server.cuts.swap(0, 1);
        if let Some(waker) = server.waiting.take() {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let server = &mut *self.server();
        let mut taken = bytes.len();
        if server.stalls && server.at < server.answer.len() {
            taken = taken.min(STALLED_AT.saturating_sub(server.written));
        }
        if let Some(waker) = server.waiting.take() {
            waker.wake();
        }
        if taken == 0 && !bytes.is_empty() {
            server.was_stalled = true;
            server.waiting = Some(cx.waker().clone());
            return Poll::Pending;
        }
        server.written += taken;
        server.next = server.next.or(server.prepared.take());
        Poll::Ready(Ok(taken))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
