//! The loop that accepts connections, and its end.

use std::error::Error;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use tokio::task::JoinSet;

use super::connection::{Acceptor, Closing};
use super::listen::Accept;
use super::socket::Socket;
use super::{Listener, Peer, Settings};

/// 64: how many excess connections are refused concurrently. Further ones wait in the system's queue
/// until one of these is refused, for at most two seconds.
const REFUSALS: usize = 64;

/// Why a server did not stop cleanly.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Requests were still running at the end of the grace period; they were dropped.
    #[error(
        "{connections} connections were cut off because their requests took longer than {grace:?} \
         to finish"
    )]
    Unfinished {
        /// The number of connections with such requests.
        connections: usize,
        /// The grace period.
        grace: Duration,
    },
}

/// Serves every connection of a listener until `shutdown` is ready, then lets requests finish.
///
/// Each connection has its own task, in which the service runs: on HTTP/1.1 without any other task, on
/// HTTP/2 with one for each request. If a client closes the connection, the service's future or body is
/// dropped. Every request has a [`Peer`] in its extensions.
///
/// After `shutdown` no connection is accepted and idle ones are closed. The service must end streams
/// that do not end by themselves, or they are dropped after [`Settings::grace`].
///
/// ```no_run
/// # async fn run<S, B>(service: S) -> Result<(), Box<dyn std::error::Error>>
/// # where
/// #     S: tower_service::Service<
/// #             http::Request<hyper::body::Incoming>,
/// #             Response = http::Response<B>,
/// #             Error = std::convert::Infallible,
/// #         > + Clone + Send + 'static,
/// #     S::Future: Send,
/// #     B: http_body::Body<Data = bytes::Bytes, Error = std::convert::Infallible> + Send + 'static,
/// # {
/// use turnbuckle_transport::http::{Listener, Settings, serve};
///
/// let listener = Listener::bind("127.0.0.1:8080").await?;
/// serve(listener, service, Settings::default(), std::future::pending()).await?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// Fails if requests did not finish in time. A failure of a single connection is logged and ends it; a
/// failure to accept connections, such as too many open files, is logged and retried.
///
/// # Cancel safety
///
/// Dropping the future closes the listener and drops every connection at once.
pub async fn serve<S, B>(
    listener: Listener,
    service: S,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), ServeError>
where
    S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let closing = Arc::new(Closing::default());
    let acceptor = Acceptor::new(settings, Arc::clone(&closing));
    #[cfg(feature = "tls")]
    let acceptor = acceptor.with_tls(listener.tls().cloned());
    let acceptor = Arc::new(acceptor);
    let mut arrivals = Arrivals::new(listener);
    let mut shutdown = pin!(shutdown);
    while let Some((socket, peer)) = arrivals.next(shutdown.as_mut()).await {
        if arrivals.connections.len() < settings.max_connections {
            let connection = Arc::clone(&acceptor).admit(service.clone(), socket, peer);
            arrivals.connections.spawn(connection);
        } else {
            let refusal = Arc::clone(&acceptor).turn_away(socket, peer);
            arrivals.refusals.spawn(refusal);
        }
    }
    let Arrivals {
        accept,
        connections,
        refusals,
    } = arrivals;
    // Closes the listener: the system refuses new connections from now on.
    drop(accept);
    drop(refusals);
    closing.say();
    finish(connections, settings.grace).await
}

/// The listener, and the tasks of its connections.
struct Arrivals {
    accept: Accept,
    connections: JoinSet<()>,
    refusals: JoinSet<()>,
}

impl Arrivals {
    fn new(listener: Listener) -> Self {
        Self {
            accept: Accept::new(listener),
            connections: JoinSet::new(),
            refusals: JoinSet::new(),
        }
    }

    /// Accepts the next connection. Returns `None` when it is time to stop.
    async fn next(
        &mut self,
        mut shutdown: Pin<&mut impl Future<Output = ()>>,
    ) -> Option<(Socket, Peer)> {
        poll_fn(|cx| {
            if shutdown.as_mut().poll(cx).is_ready() {
                return Poll::Ready(None);
            }
            reap(&mut self.connections, cx);
            reap(&mut self.refusals, cx);
            if self.refusals.len() >= REFUSALS {
                // Woken when one of the tasks ends.
                return Poll::Pending;
            }
            self.accept.poll_next(cx).map(Some)
        })
        .await
    }
}

/// Removes the tasks that have ended.
fn reap(tasks: &mut JoinSet<()>, cx: &mut Context<'_>) {
    while let Poll::Ready(Some(outcome)) = tasks.poll_join_next(cx) {
        if let Err(error) = outcome {
            tracing::error!(%error, "a connection ended with a panic");
        }
    }
}

async fn finish(mut connections: JoinSet<()>, grace: Duration) -> Result<(), ServeError> {
    let all_ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(grace, all_ended).await.is_ok() {
        return Ok(());
    }
    let unfinished = connections.len();
    connections.shutdown().await;
    Err(ServeError::Unfinished {
        connections: unfinished,
        grace,
    })
}
