//! From an accepted socket to its requests.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;

use super::closing::Closing;
use super::drive::drive;
use super::http2::{self, Tasks};
use super::preface::{Preface, Protocol};
use super::refuse::{REFUSAL_TIME, refuse};
use super::requests::Requests;
use super::state::{ConnectionState, Heads};
use super::wire::Wire;
#[cfg(feature = "tls")]
use crate::http::Tls;
use crate::http::listen::ServerStream;
use crate::http::socket::Socket;
use crate::http::{Peer, Settings};

/// 128 KiB: how much HTTP/1.1 reads ahead or buffers for writing on a connection. Buffers start at 8
/// KiB and only grow for a large body.
const MAX_BUFFER_BYTES: usize = 128 * 1024;

/// The shared state of all connections of a server.
pub(in crate::http) struct Acceptor {
    settings: Settings,
    closing: Arc<Closing>,
    http1: http1::Builder,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

/// A connection whose version of HTTP is known.
struct Opened {
    stream: ServerStream,
    peer: Peer,
    protocol: Protocol,
    preface: Preface,
}

impl Opened {
    fn parts<S>(self, service: S, state: &Arc<ConnectionState>) -> (TokioIo<Wire>, Requests<S>) {
        let wire = Wire::new(self.stream, self.preface, Arc::clone(state));
        let requests = Requests::new(service, self.peer, Arc::clone(state));
        (TokioIo::new(wire), requests)
    }
}

impl Acceptor {
    pub(in crate::http) fn new(settings: Settings, closing: Arc<Closing>) -> Self {
        Self {
            settings,
            closing,
            http1: http1_builder(&settings),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    #[cfg(feature = "tls")]
    pub(in crate::http) fn with_tls(mut self, tls: Option<Tls>) -> Self {
        self.tls = tls;
        self
    }

    /// Serves a connection until it ends.
    pub(in crate::http) async fn admit<S, B>(
        self: Arc<Self>,
        service: S,
        socket: Socket,
        peer: Peer,
    ) where
        S: tower_service::Service<Request<Incoming>, Response = Response<B>>,
        S: Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        // Boxed, so that its memory is freed when the connection is open: most connections are open and
        // silent most of the time.
        let opening = Box::pin(self.opened_in(self.settings.header_timeout, socket, peer));
        let Some(opened) = opening.await else {
            return;
        };
        match opened.protocol {
            Protocol::Http1 => {
                let state = Arc::new(ConnectionState::new(Heads::Bare));
                let (io, requests) = opened.parts(service, &state);
                // Pinned here and nowhere else, so that it is not moved into other futures.
                let connection = pin!(self.http1.serve_connection(io, requests));
                drive(connection, &state, self.settings, &self.closing).await;
            }
            Protocol::Http2 => {
                let state = Arc::new(ConnectionState::new(Heads::Framed));
                let (io, requests) = opened.parts(service, &state);
                let builder = http2::builder(&self.settings, Tasks::default());
                let mut connection = Box::pin(builder.serve_connection(io, requests));
                drive(connection.as_mut(), &state, self.settings, &self.closing).await;
            }
        }
    }

    /// Refuses a connection because the limit is reached.
    pub(in crate::http) async fn turn_away(self: Arc<Self>, socket: Socket, peer: Peer) {
        let refusal = async {
            if let Some(opened) = self.opened_in(REFUSAL_TIME, socket, peer).await {
                refuse(opened.stream, opened.protocol).await;
            }
        };
        // If the client does not read the response, it is not sent again.
        let _ = tokio::time::timeout(REFUSAL_TIME, refusal).await;
    }

    /// Determines the version of HTTP, unless the client sends too little in time or the server stops.
    async fn opened_in(&self, time: Duration, socket: Socket, peer: Peer) -> Option<Opened> {
        let mut opening = pin!(tokio::time::timeout(time, self.open(socket, peer)));
        let mut closed = pin!(self.closing.heard());
        let outcome = poll_fn(|cx| match opening.as_mut().poll(cx) {
            Poll::Pending => closed.as_mut().poll(cx).map(|()| None),
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        })
        .await;
        match outcome? {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => {
                tracing::debug!(%error, "a connection could not be opened");
                None
            }
            Err(_) => {
                tracing::debug!("a connection was closed: it sent nothing for too long");
                None
            }
        }
    }

    async fn open(&self, socket: Socket, peer: Peer) -> io::Result<Option<Opened>> {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            let stream = tls.acceptor().accept(socket).await?;
            let protocol = match stream.get_ref().1.alpn_protocol() {
                Some(b"h2") => Protocol::Http2,
                _ => Protocol::Http1,
            };
            return Ok(Some(Opened {
                stream: ServerStream::Encrypted(Box::new(stream)),
                peer: peer.encrypted(),
                protocol,
                preface: Preface::default(),
            }));
        }
        let mut stream = ServerStream::Plain(socket);
        let found = Preface::read(&mut stream).await?;
        Ok(found.map(|(protocol, preface)| Opened {
            stream,
            peer,
            protocol,
            preface,
        }))
    }
}

fn http1_builder(settings: &Settings) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .max_header_size(settings.max_header_bytes)
        .max_buf_size(MAX_BUFFER_BYTES.max(settings.max_header_bytes))
        // Disabled, because our own deadline does not set a timer for each request.
        .header_read_timeout(None);
    builder
}
