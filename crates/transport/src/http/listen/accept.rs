//! Taking connections, one after the other, through bad times.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::{Listener, Peer, Socket};

/// 100 ms: a process that is out of file descriptors gets them back when connections end; asking
/// ten times a second costs nothing, and asking without a pause a whole processor.
const PAUSE: Duration = Duration::from_millis(100);

/// The next connections of a listener.
pub(in crate::http) struct Accept {
    listener: Listener,
    /// Until when nothing is asked for, after a failure that lasts.
    pause: Pin<Box<Sleep>>,
    is_pausing: bool,
}

impl Accept {
    pub(in crate::http) fn new(listener: Listener) -> Self {
        Self {
            listener,
            pause: Box::pin(tokio::time::sleep(Duration::ZERO)),
            is_pausing: false,
        }
    }

    pub(in crate::http) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<(Socket, Peer)> {
        loop {
            if self.is_pausing {
                ready!(self.pause.as_mut().poll(cx));
                self.is_pausing = false;
            }
            match ready!(self.listener.poll_accept(cx)) {
                Ok(connection) => return Poll::Ready(connection),
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot take connections; trying again in {PAUSE:?}");
                    self.pause.as_mut().reset(Instant::now() + PAUSE);
                    self.is_pausing = true;
                }
            }
        }
    }
}

/// Whether only the connection that was just to be taken has failed.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}
