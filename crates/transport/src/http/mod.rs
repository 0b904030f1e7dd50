//! HTTP without the protocol: listeners for servers, an agent for clients, and event streams.
//!
//! [`client`] sends requests and reads responses. [`sse`] writes and parses server-sent events and does
//! no I/O. [`serve`] accepts connections from a [`Listener`] and passes their requests to any tower
//! service. It limits everything that a client can do to a server before a request is complete: too
//! many connections, slow headers, large headers, silence. The content of a request is the
//! responsibility of the service, and so is the time for its body.

mod byte_stream;
pub mod client;
mod connection;
mod listen;
mod serve;
mod settings;
mod socket;
pub mod sse;

pub use byte_stream::ByteStream;
pub use listen::{BindError, Listener, Peer};
#[cfg(feature = "tls")]
pub use listen::{Tls, TlsError};
pub use serve::{ServeError, serve};
pub use settings::Settings;
