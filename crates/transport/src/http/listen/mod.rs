//! Listeners: TCP, Unix sockets, and TLS over either.

mod accept;
mod error;
mod keep_alive;
mod listener;
mod peer;
mod stream;
#[cfg(feature = "tls")]
mod tls;
#[cfg(unix)]
mod unix;

pub use error::BindError;
pub use listener::Listener;
pub use peer::Peer;
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};

pub(super) use accept::Accept;
pub(super) use stream::ServerStream;
