//! The byte stream of a connection: plain or TLS.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::{Connected, Connection};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::http::socket::Socket;

/// One connection.
pub(super) struct ClientStream {
    kind: Kind,
    /// Whether the other end is a proxy that needs the whole URL in each request.
    is_proxied: bool,
}

enum Kind {
    Plain(Socket),
    #[cfg(feature = "tls")]
    Tls(Box<tokio_rustls::client::TlsStream<Socket>>),
}

impl ClientStream {
    pub(super) fn plain(socket: Socket) -> Self {
        Self {
            kind: Kind::Plain(socket),
            is_proxied: false,
        }
    }

    pub(super) fn to_proxy(socket: Socket) -> Self {
        Self {
            is_proxied: true,
            ..Self::plain(socket)
        }
    }

    #[cfg(feature = "tls")]
    pub(super) fn tls(tls: tokio_rustls::client::TlsStream<Socket>) -> Self {
        Self {
            kind: Kind::Tls(Box::new(tls)),
            is_proxied: false,
        }
    }

    /// Whether there is no unread data, so that the next bytes belong to the next response. Unknown for
    /// TLS connections, which hyper keeps.
    pub(super) fn is_quiet(&mut self) -> bool {
        match &mut self.kind {
            Kind::Plain(socket) => socket.is_quiet(),
            #[cfg(feature = "tls")]
            Kind::Tls(_) => false,
        }
    }

    fn is_http2(&self) -> bool {
        match &self.kind {
            Kind::Plain(_) => false,
            #[cfg(feature = "tls")]
            Kind::Tls(tls) => tls.get_ref().1.alpn_protocol() == Some(b"h2"),
        }
    }
}

impl Connection for ClientStream {
    fn connected(&self) -> Connected {
        let connected = Connected::new().proxy(self.is_proxied);
        if self.is_http2() {
            connected.negotiated_h2()
        } else {
            connected
        }
    }
}

/// Forwards a call to either kind.
macro_rules! with_kind {
    ($self:ident, $stream:ident => $body:expr) => {
        match &mut $self.get_mut().kind {
            Kind::Plain(plain) => {
                let $stream = Pin::new(plain);
                $body
            }
            #[cfg(feature = "tls")]
            Kind::Tls(tls) => {
                let $stream = Pin::new(&mut **tls);
                $body
            }
        }
    };
}

impl AsyncRead for ClientStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with_kind!(self, stream => stream.poll_read(cx, buf))
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        with_kind!(self, stream => stream.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with_kind!(self, stream => stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.kind {
            Kind::Plain(plain) => plain.is_write_vectored(),
            #[cfg(feature = "tls")]
            Kind::Tls(tls) => tls.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_kind!(self, stream => stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with_kind!(self, stream => stream.poll_shutdown(cx))
    }
}
