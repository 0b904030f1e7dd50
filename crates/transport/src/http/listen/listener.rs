//! A listener for connections.

use std::fmt;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;
use std::task::{Context, Poll, ready};

use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::sync::mpsc;

#[cfg(feature = "tls")]
use super::tls::Tls;
#[cfg(unix)]
use super::unix::UnixSocketListener;
use super::{BindError, Peer, keep_alive};
use crate::http::ByteStream;
use crate::http::socket::Socket;

/// A listener for connections. It listens from its creation: clients can connect from then on, and wait
/// until [`serve`](crate::http::serve) accepts them.
///
/// Dropping it stops listening, and removes the file of a Unix socket.
pub struct Listener {
    place: Place,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
}

enum Place {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(UnixSocketListener),
    Streams(mpsc::Receiver<(ByteStream, SocketAddr)>),
}

impl Listener {
    /// Listens on TCP. Port 0 means any free port; see [`local_address`](Self::local_address).
    ///
    /// Listen on `127.0.0.1` unless other machines should reach the server.
    ///
    /// # Errors
    ///
    /// Fails if the address is invalid, is already in use, or does not belong to this machine.
    pub async fn bind(address: impl ToSocketAddrs + fmt::Display) -> Result<Self, BindError> {
        match TcpListener::bind(&address).await {
            Ok(listener) => Ok(Self::at(Place::Tcp(listener))),
            Err(source) => Err(BindError::Address {
                address: address.to_string(),
                source,
            }),
        }
    }

    /// Uses a TCP socket that is already listening, for example from a service manager.
    ///
    /// # Errors
    ///
    /// Fails if the socket cannot be registered, for instance because there is no runtime.
    pub fn from_tcp(listener: std::net::TcpListener) -> Result<Self, BindError> {
        let watched = || {
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener)
        };
        match watched() {
            Ok(listener) => Ok(Self::at(Place::Tcp(listener))),
            Err(source) => Err(BindError::Address {
                address: "the given socket".to_owned(),
                source,
            }),
        }
    }

    /// Listens on a Unix socket. A socket file that a crashed server has left at the path is removed.
    ///
    /// The permissions of the file determine who may connect: with the usual umask, the same user.
    ///
    /// # Errors
    ///
    /// Fails if a server listens there, if another kind of file is at the path, or if no file can be
    /// created there.
    #[cfg(unix)]
    pub async fn bind_unix(path: impl AsRef<Path>) -> Result<Self, BindError> {
        let listener = UnixSocketListener::open(path.as_ref()).await?;
        Ok(Self::at(Place::Unix(listener)))
    }

    /// Accepts connections that arrive in another way: through a tunnel, or in memory in a test. Each
    /// comes with the address of its client, for limits per address.
    ///
    /// When all senders are dropped, no further connections arrive; open connections continue.
    pub fn from_streams(streams: mpsc::Receiver<(ByteStream, SocketAddr)>) -> Self {
        Self::at(Place::Streams(streams))
    }

    fn at(place: Place) -> Self {
        Self {
            place,
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Uses TLS on every connection, with HTTP/2 for clients that request it.
    #[cfg(feature = "tls")]
    pub fn with_tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Returns the address, for a TCP listener.
    pub fn local_address(&self) -> Option<SocketAddr> {
        match &self.place {
            Place::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(unix)]
            Place::Unix(_) => None,
            Place::Streams(_) => None,
        }
    }

    #[cfg(feature = "tls")]
    pub(in crate::http) fn tls(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }

    pub(super) fn poll_accept(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<std::io::Result<(Socket, Peer)>> {
        match &mut self.place {
            Place::Tcp(listener) => listener.poll_accept(cx).map_ok(|(stream, address)| {
                keep_alive::set_up(&stream);
                (Socket::Tcp(stream), Peer::tcp(address))
            }),
            #[cfg(unix)]
            Place::Unix(listener) => listener.poll_accept(cx),
            Place::Streams(streams) => match ready!(streams.poll_recv(cx)) {
                Some((stream, address)) => {
                    Poll::Ready(Ok((Socket::Other(stream), Peer::tcp(address))))
                }
                None => Poll::Pending,
            },
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Listener");
        match &self.place {
            Place::Tcp(listener) => debug.field("tcp", &listener.local_addr().ok()),
            #[cfg(unix)]
            Place::Unix(listener) => debug.field("unix", &listener.path()),
            Place::Streams(_) => debug.field("streams", &true),
        };
        debug.finish_non_exhaustive()
    }
}
