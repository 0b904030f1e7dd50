//! An open connection to a server over byte streams.

use std::fmt;

use tokio::io::{AsyncRead, AsyncWrite};
use turnbuckle_transport::{Child, Duplex};

/// An open connection to a server: its output, its input, and its process if it has one. A
/// [`Dial`](crate::Dial) returns it. Messages are lines of JSON.
pub struct Pipe {
    pub(crate) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(crate) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(crate) child: Option<Child>,
}

impl Pipe {
    /// A connection over a pair of byte streams: what the server writes, and what it reads. It is
    /// closed by dropping both.
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
