//! Drives a connection in its own task, from its first request to its last.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use super::closing::Closing;
use super::deadline::Deadline;
use super::state::{ConnectionState, WaitsFor};
use crate::http::Settings;

/// A connection that can be told to accept no further requests.
pub(super) trait Graceful: Future<Output = Result<(), hyper::Error>> {
    fn close_gracefully(self: Pin<&mut Self>);
}

impl<I, S, B> Graceful for hyper::server::conn::http1::Connection<I, S>
where
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
    B: http_body::Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn close_gracefully(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<I, S, B, E> Graceful for hyper::server::conn::http2::Connection<I, S, E>
where
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = B>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    I: hyper::rt::Read + hyper::rt::Write + Unpin,
    B: http_body::Body + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    E: hyper::rt::bounds::Http2ServerConnExec<S::Future, B>,
{
    fn close_gracefully(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

/// Drives a connection until it ends, is silent for too long, or does not end after it was told to.
///
/// Must be polled by one task only, which is woken by the server's stopping and by the deadline.
pub(super) async fn drive(
    mut connection: Pin<&mut impl Graceful>,
    connection_state: &ConnectionState,
    settings: Settings,
    closing: &Closing,
) {
    let mut closed = pin!(closing.notified());
    let mut deadline = Deadline::new(settings);
    let mut state = State::New;
    poll_fn(|cx| {
        if state == State::New {
            // Only registers the waker; `is_said` is checked below.
            let _ = closed.as_mut().poll(cx);
            connection_state.wake(cx.waker());
            state = State::Open;
        }
        if state == State::Open && closing.is_said() {
            connection.as_mut().close_gracefully();
            state = State::Closing;
        }
        turn(
            connection.as_mut(),
            connection_state,
            &mut deadline,
            &mut state,
            cx,
        )
    })
    .await;
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Closing,
}

fn turn(
    mut connection: Pin<&mut impl Graceful>,
    connection_state: &ConnectionState,
    deadline: &mut Deadline,
    state: &mut State,
    cx: &mut Context<'_>,
) -> Poll<()> {
    loop {
        if let Poll::Ready(outcome) = connection.as_mut().poll(cx) {
            if let Err(error) = outcome {
                tracing::debug!(
                    error = &error as &dyn Error,
                    "a connection ended with an error"
                );
            }
            return Poll::Ready(());
        }
        let phase = match connection_state.phase() {
            WaitsFor::Idle(_) if *state == State::Closing => WaitsFor::Farewell,
            phase => phase,
        };
        if deadline.poll(cx, phase).is_pending() {
            return Poll::Pending;
        }
        if matches!(phase, WaitsFor::Idle(_)) {
            // The client may be sending its next request right now: HTTP/2 tells it that the request
            // was not accepted.
            connection.as_mut().close_gracefully();
            *state = State::Closing;
        } else {
            tracing::debug!(?phase, "a connection waited too long for its client");
            return Poll::Ready(());
        }
    }
}
