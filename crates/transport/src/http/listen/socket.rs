//! A connection as it arrives: one type for TCP, Unix sockets and streams of others.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

use crate::http::ByteStream;

/// 1 min of silence, then a probe each quarter: a machine that vanished is noticed within two
/// minutes, and the kernel does it without waking us.
const PROBE_AFTER: Duration = Duration::from_mins(1);
#[cfg(any(target_os = "linux", target_os = "macos"))]
const PROBE_EVERY: Duration = Duration::from_secs(15);
#[cfg(any(target_os = "linux", target_os = "macos"))]
const PROBES: u32 = 4;

/// A connection of any kind.
#[derive(Debug)]
pub(in crate::http) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    Other(ByteStream),
}

impl Socket {
    pub(super) fn tcp(stream: TcpStream) -> Self {
        // Neither is needed to serve: where the system refuses, answers come later and dead
        // clients stay longer.
        let _ = stream.set_nodelay(true);
        let _ = SockRef::from(&stream).set_tcp_keepalive(&keep_alive());
        Self::Tcp(stream)
    }

    #[cfg(unix)]
    pub(super) fn unix(stream: UnixStream) -> Self {
        Self::Unix(stream)
    }
}

fn keep_alive() -> TcpKeepalive {
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER);
    // Elsewhere the system's own pace has to do.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    let probes = probes.with_interval(PROBE_EVERY).with_retries(PROBES);
    probes
}

/// Does the same to any kind.
macro_rules! either {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Socket::Tcp($stream) => $call,
            #[cfg(unix)]
            Socket::Unix($stream) => $call,
            Socket::Other($stream) => $call,
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(cx, slices))
    }

    fn is_write_vectored(&self) -> bool {
        either!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(cx))
    }
}
