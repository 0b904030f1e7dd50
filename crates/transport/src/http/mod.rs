//! HTTP below the protocol: a server's door, a client's agent, and the text of event streams.
//!
//! [`client`] sends requests and reads answers. [`sse`] writes and reads server-sent events and
//! does no I/O. [`serve`] takes connections from a [`Listener`] and hands their requests to any
//! tower service; it owns all that a client can do to a server before a request is complete: too
//! many connections, slow headers, large headers, silence. What a request says is the service's
//! business, and so is how long its body may take.

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
