//! `Target`: what a client connects to.

use std::{
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    io,
};

use futures_core::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};
use turnbuckle_transport::{Command, Duplex, SpawnError};

#[cfg(feature = "http")]
use super::http::HttpTarget;
use crate::link::Pipe;

/// Why a [`Dial`] could not open a connection to a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The server's program could not be started. Connecting fails with
    /// [`ConnectError::Spawn`](crate::ConnectError::Spawn).
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// Something else failed. Connecting fails with
    /// [`ConnectError::Unreachable`](crate::ConnectError::Unreachable).
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Opens connections to one server. Implement it for a custom transport.
///
/// [`dial`](Self::dial) may be called twice: a server that exits when it is probed is started again.
/// Return an error if a second connection is impossible.
pub trait Dial: Send {
    /// Opens a connection and returns its two byte streams.
    ///
    /// # Errors
    /// [`DialError`] if it cannot be opened.
    fn dial(&mut self) -> BoxFuture<'_, Result<Pipe, DialError>>;

    /// Returns the server's name for errors and logs, used until the server has reported its own. It
    /// must not contain secrets.
    fn label(&self) -> String;

    /// Whether a second connection can be opened while the first is in use, as a program can be started
    /// twice. If so, a server that does not answer the probe is also tried with a handshake on a second
    /// connection, and the connection that answers first is kept.
    fn can_open_second(&self) -> bool {
        false
    }

    /// Returns a key that identifies this server, if a new connection leads to the same one. The
    /// detected revision is remembered under this key.
    fn key(&self) -> Option<String> {
        None
    }
}

/// What to connect to: a program, a pair of streams, a custom transport ([`Dial`]) or, with feature
/// `http`, a URL.
///
/// ```
/// use turnbuckle_client::{Target, transport::{Command, duplex}};
///
/// let program = Target::from(Command::new("uvx").arg("mcp-server-git"));
/// let (near, far) = duplex();
/// let streams = Target::from(near);
/// let on_demand = Target::on_demand("built-in", || duplex().0);
/// # let _ = (program, streams, on_demand, far);
/// ```
pub struct Target(pub(super) Place);

/// The location of a server.
pub(super) enum Place {
    /// A server that a [`Dial`] connects to.
    Dial(Box<dyn Dial>),
    /// A server at a URL.
    #[cfg(feature = "http")]
    Http(Box<HttpTarget>),
}

impl Target {
    /// Creates a target for a custom transport.
    pub fn new(dial: impl Dial + 'static) -> Self {
        Self(Place::Dial(Box::new(dial)))
    }

    /// Creates a target for a server that can be connected to any number of times, such as one in this
    /// process. `open` is called for each connection.
    pub fn on_demand<P: Into<Pipe>>(
        label: impl Into<String>,
        open: impl FnMut() -> P + Send + 'static,
    ) -> Self {
        Self::new(OnDemand {
            label: label.into(),
            open,
        })
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let label = match &self.0 {
            Place::Dial(dial) => dial.label(),
            #[cfg(feature = "http")]
            Place::Http(target) => target.label(),
        };
        f.debug_tuple("Target").field(&label).finish()
    }
}

#[cfg(feature = "http")]
impl From<HttpTarget> for Target {
    fn from(target: HttpTarget) -> Self {
        Self(Place::Http(Box::new(target)))
    }
}

#[cfg(feature = "http")]
impl From<&str> for Target {
    /// A server at a URL.
    fn from(url: &str) -> Self {
        HttpTarget::new(url).into()
    }
}

#[cfg(feature = "http")]
impl From<String> for Target {
    /// A server at a URL.
    fn from(url: String) -> Self {
        HttpTarget::new(url).into()
    }
}

impl From<Command> for Target {
    fn from(command: Command) -> Self {
        Self::new(command)
    }
}

impl From<Pipe> for Target {
    fn from(pipe: Pipe) -> Self {
        Self::new(Once { pipe: Some(pipe) })
    }
}

impl From<Duplex> for Target {
    fn from(end: Duplex) -> Self {
        Pipe::from(end).into()
    }
}

impl<R, W> From<(R, W)> for Target
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn from((reader, writer): (R, W)) -> Self {
        Pipe::new(reader, writer).into()
    }
}

impl Dial for Command {
    fn dial(&mut self) -> BoxFuture<'_, Result<Pipe, DialError>> {
        let spawned = self
            .spawn()
            .map_err(DialError::from)
            .map(|(child, pipes)| Pipe {
                child: Some(child),
                ..Pipe::new(pipes.reader, pipes.writer)
            });
        Box::pin(std::future::ready(spawned))
    }

    fn label(&self) -> String {
        self.program().to_string_lossy().into_owned()
    }

    fn can_open_second(&self) -> bool {
        true
    }

    fn key(&self) -> Option<String> {
        // All settings identify the server. Only a digest is kept, because the environment may contain
        // secrets. Two commands with the same digest would only share a guess.
        let mut digest = DefaultHasher::new();
        format!("{self:?}").hash(&mut digest);
        Some(format!("{}#{:016x}", self.label(), digest.finish()))
    }
}

/// A pair of streams, which can only be used once.
struct Once {
    pipe: Option<Pipe>,
}

impl Dial for Once {
    fn dial(&mut self) -> BoxFuture<'_, Result<Pipe, DialError>> {
        let again = "a new connection is needed, but these streams can only be used once";
        let pipe = self
            .pipe
            .take()
            .ok_or_else(|| DialError::Io(io::Error::other(again)));
        Box::pin(std::future::ready(pipe))
    }

    fn label(&self) -> String {
        "server".to_owned()
    }
}

struct OnDemand<F> {
    label: String,
    open: F,
}

impl<F, P> Dial for OnDemand<F>
where
    F: FnMut() -> P + Send,
    P: Into<Pipe>,
{
    fn dial(&mut self) -> BoxFuture<'_, Result<Pipe, DialError>> {
        let pipe = (self.open)().into();
        Box::pin(std::future::ready(Ok(pipe)))
    }

    fn label(&self) -> String {
        self.label.clone()
    }
}
