//! Why a listener could not be opened.

use std::io;
use std::path::PathBuf;

/// Why a listener could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// It is not possible to listen at the address.
    #[error("cannot listen at {address}")]
    Address {
        /// The address, as it was given.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A server already listens on the socket file.
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
    /// The socket file cannot be created, or an old one cannot be removed.
    #[error("cannot make a socket at {}", path.display())]
    Path {
        /// The path of the socket file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}
