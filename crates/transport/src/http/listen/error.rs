//! Why a server's door cannot be opened.

use std::io;
use std::path::PathBuf;

/// Why a listener could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The address cannot be listened at.
    #[error("cannot listen at {address}")]
    Address {
        /// The address as it was given.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A server already listens at the socket file.
    #[error("a server already answers at {}; stop it or choose another path", path.display())]
    InUse {
        /// The path of the socket file.
        path: PathBuf,
    },
    /// The path exists and is not a socket.
    #[error("{} exists and is not a socket; remove it or choose another path", path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The socket file cannot be made, or what is left of an old one not be removed.
    #[error("cannot make a socket at {}", path.display())]
    Path {
        /// The path of the socket file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}
