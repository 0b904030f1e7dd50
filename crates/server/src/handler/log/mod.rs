//! Log messages for clients that asked for them.
//!
//! A session asks for them with `logging/setLevel`. Before that it gets messages of the server's
//! default level, `info`, and above. Since 2026-07-28 each request asks in its `_meta`, and gets no
//! log messages otherwise.
//!
//! Handlers send messages with [`Log`]. With the feature `tracing-layer`, `ClientLog` also sends
//! the `tracing` events of handlers.

#[cfg(feature = "tracing-layer")]
mod layer;
mod scope;
mod sender;

#[cfg(feature = "tracing-layer")]
pub use layer::ClientLog;
pub(crate) use scope::scoped;
pub use sender::{Log, LogRecord};
