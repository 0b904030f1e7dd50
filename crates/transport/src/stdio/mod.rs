//! The server side of stdio: blocking reads and writes on separate threads.
//!
//! A runtime reads standard input on a helper thread and passes every chunk to another thread, which
//! costs more than the rest of a small call. Here the reading thread passes the messages on and writes
//! the answers itself: one read and one write for a whole batch.

mod claim;
mod file;
mod reader;
mod serve;
mod writer;

pub use serve::{serve_files, serve_stdio};
