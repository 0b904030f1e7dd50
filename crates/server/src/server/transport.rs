//! The transports for stdio, memory, and any pair of byte streams.

use std::future::Future;

use tokio::io::{AsyncRead, AsyncWrite};
use turnbuckle_transport::{Duplex, TransportError};

use crate::{Caller, LiveServer, SetupError};

/// The reason why serving failed. It is no error that a client disconnects.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// An entry or a setting of the server is invalid. No transport was opened.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The transport broke, such as a pipe that cannot be read or written.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// The address cannot be bound: it is in use, it does not belong to this machine, or binding it
    /// is not allowed.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Bind(#[from] turnbuckle_transport::http::BindError),
    /// Accepting connections failed permanently.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Listen(#[from] turnbuckle_transport::http::ServeError),
}

/// A transport on which a server is served: [`Stdio`], [`Streams`], `Http`, or your own. A pair of
/// a reader and a writer is a transport, too.
pub trait Transport {
    /// Serves until the other end closes.
    ///
    /// # Errors
    /// [`ServeError`] if the transport cannot be opened, or breaks.
    fn serve(self, server: LiveServer) -> impl Future<Output = Result<(), ServeError>> + Send;
}

/// The standard input and output of this process. Serving ends when the client closes its end.
///
/// While it serves, stdin and stdout belong to the protocol: output of `println!` goes to stderr,
/// and code that reads stdin finds it empty. The caller is [`Caller::local`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Stdio;

impl Transport for Stdio {
    async fn serve(self, server: LiveServer) -> Result<(), ServeError> {
        let (connection, outbox) = server.accept(Caller::local());
        let _owner = connection.owner();
        Ok(turnbuckle_transport::serve_stdio(connection, outbox, server.limits()).await?)
    }
}

/// A pair of byte streams, with one message per line.
///
/// ```no_run
/// use tokio::net::UnixListener;
/// use turnbuckle_server::{Caller, LiveServer, Streams};
///
/// # async fn run(server: LiveServer, listener: UnixListener) -> Result<(), Box<dyn std::error::Error>> {
/// let (socket, _) = listener.accept().await?;
/// let (read, write) = socket.into_split();
/// server.serve(Streams::new(read, write).caller(Caller::new("ada"))).await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Streams<R, W> {
    read: R,
    write: W,
    caller: Caller,
}

impl<R, W> Streams<R, W> {
    /// A pair of streams, such as the halves of a socket or a pipe. Each message is a line of JSON.
    pub fn new(read: R, write: W) -> Self {
        Self {
            read,
            write,
            caller: Caller::local(),
        }
    }

    /// Sets the caller at the other end, if you know who it is. Defaults to [`Caller::local`], who
    /// may do everything.
    pub fn caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }
}

impl<R, W> Transport for Streams<R, W>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    async fn serve(self, server: LiveServer) -> Result<(), ServeError> {
        let (connection, outbox) = server.accept(self.caller);
        let _owner = connection.owner();
        let limits = server.limits();
        Ok(turnbuckle_transport::run(self.read, self.write, connection, outbox, limits).await?)
    }
}

impl<R, W> Transport for (R, W)
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send,
{
    async fn serve(self, server: LiveServer) -> Result<(), ServeError> {
        Streams::new(self.0, self.1).serve(server).await
    }
}

impl Transport for Duplex {
    async fn serve(self, server: LiveServer) -> Result<(), ServeError> {
        Streams::new(self.reader, self.writer).serve(server).await
    }
}
