//! An open connection to a server over byte streams.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};
use turnbuckle_transport::{Child, Duplex};

/// An open connection to a server: its output, its input, and its process if it has one. Messages are
/// lines of JSON. Returned by a [`Dial`](crate::Dial).
pub struct Pipe {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) child: Option<Child>,
}

impl Pipe {
    /// Creates a connection from a pair of byte streams: the server's output, and its input. Dropping
    /// both closes the connection.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            reader: Box::new(reader),
            writer: Box::new(writer),
            child: None,
        }
    }
}

impl From<Duplex> for Pipe {
    fn from(end: Duplex) -> Self {
        Self::new(end.reader, end.writer)
    }
}

impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe")
            .field("child", &self.child)
            .finish_non_exhaustive()
    }
}
