//! Accepts connections, and continues after errors such as too many open files.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use super::{Listener, Peer};
use crate::http::socket::Socket;

/// 100 ms: a process without file descriptors gets some back when connections end. Trying ten times a
/// second costs nothing; trying without a pause would use a whole processor.
const PAUSE: Duration = Duration::from_millis(100);

/// How often a continuing failure is logged: the disk may be full, too.
const SAY_EVERY: Duration = Duration::from_mins(1);

/// Accepts the connections of a listener.
pub(in crate::http) struct Accept {
    listener: Listener,
    /// The pause after a failure that continues.
    pause: Pin<Box<Sleep>>,
    is_pausing: bool,
    said: Option<Instant>,
}

impl Accept {
    pub(in crate::http) fn new(listener: Listener) -> Self {
        Self {
            listener,
            pause: Box::pin(tokio::time::sleep(Duration::ZERO)),
            is_pausing: false,
            said: None,
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
                    let now = Instant::now();
                    if is_due(&mut self.said, now) {
                        tracing::warn!(%error, "cannot take connections; trying again every {PAUSE:?}");
                    }
                    self.pause.as_mut().reset(now + PAUSE);
                    self.is_pausing = true;
                }
            }
        }
    }
}

/// Whether only the connection that was being accepted has failed.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::Interrupted
    )
}

/// Whether a failure should be logged again.
fn is_due(said: &mut Option<Instant>, now: Instant) -> bool {
    let is_due = said.is_none_or(|said| now.duration_since(said) >= SAY_EVERY);
    if is_due {
        *said = Some(now);
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_lasts_is_said_once_a_minute() {
        let (mut said, start) = (None, Instant::now());
        let failures = (0..1200).filter(|&number| is_due(&mut said, start + PAUSE * number));
        assert_eq!(failures.collect::<Vec<_>>(), [0, 600]);
    }
}
