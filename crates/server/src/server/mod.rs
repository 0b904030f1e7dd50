//! `Server`, the builder; `LiveServer`, a server that has been built; and the transports that serve
//! it.

mod build;
mod builder;
mod declare;
mod errors;
#[cfg(feature = "http")]
mod http;
mod keys;
mod live;
mod messages;
#[cfg(feature = "http")]
mod replicas;
#[cfg(feature = "http")]
mod stop_signal;
mod transport;

pub use builder::Server;
#[cfg(feature = "http")]
pub use http::Http;
pub use live::LiveServer;
pub use messages::{MessageInlet, MessageOutlet};
#[cfg(feature = "http")]
pub use stop_signal::stop_signal;
pub use transport::{ServeError, Stdio, Streams, Transport};
