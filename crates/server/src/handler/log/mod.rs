//! Log messages for clients that asked for them.
//!
//! A session asks with `logging/setLevel`; before it does, it gets what the server's setting says,
//! `info` and above. Since 2026-07-28 each request asks for itself, in its `_meta`, and gets nothing
//! otherwise.
//!
//! A handler says things with [`Log`]. With the feature `tracing-layer`, `ClientLog` sends what
//! handlers say with `tracing`.

#[cfg(feature = "tracing-layer")]
mod layer;
mod scope;
mod sender;

#[cfg(feature = "tracing-layer")]
pub use layer::ClientLog;
pub(crate) use scope::scoped;
pub use sender::{Log, LogRecord};
