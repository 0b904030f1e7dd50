//! Transports for the Model Context Protocol: memory, stdio, child processes, and any pair of
//! [`AsyncRead`](tokio::io::AsyncRead) and [`AsyncWrite`](tokio::io::AsyncWrite).
//!
//! A transport here carries whole messages as lines of bytes and does not know their meaning. Incoming
//! messages are passed to a [`Receive`], one at a time, in order, on the connection's own task or
//! thread. Outgoing messages are appended to an [`Outbox`], a bounded queue with many senders, which
//! the transport empties with as few writes as possible.
//!
//! | connection | driven by |
//! |---|---|
//! | two ends in one process | [`duplex`] and [`run`] |
//! | a socket, a pipe, any byte stream | [`run`] |
//! | the server side of stdio | [`serve_stdio`] |
#![cfg_attr(
    feature = "child",
    doc = "| the client side of stdio | [`Command`], then [`run`] over its [`Pipes`] |"
)]

#[cfg(feature = "child")]
mod child;
mod error;
#[cfg(feature = "http")]
pub mod http;
mod inlet;
mod keep_alive;
mod limits;
mod line;
mod memory;
mod outbox;
mod rate;
mod receive;
mod run;
mod stdio;

#[cfg(feature = "child")]
pub use child::{
    Child, ChildReader, ChildWriter, Command, DEFAULT_GRACE, Ended, EndedBy, Pipes, SpawnError,
    Stderr, StderrCursor, StderrLine, StderrLog,
};
pub use error::{Closed, TransportError, TrySendError};
pub use keep_alive::KeepAlive;
pub use limits::Limits;
pub use memory::{Duplex, duplex};
pub use outbox::{Held, Outbox, OutboxBudget};
pub use rate::{Pacer, Rate};
pub use receive::{LineFault, Receive};
pub use run::run;
pub use stdio::{serve_files, serve_stdio};
