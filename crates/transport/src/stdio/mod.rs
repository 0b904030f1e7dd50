//! The server side of stdio: blocking reads and writes on threads of their own.
//!
//! A runtime reads standard input on a helper thread and hands every chunk across; that costs
//! more than all the rest of a small call. Here the thread that reads hands the messages over
//! itself and writes the answers itself: one read and one write for a whole batch.

mod claim;
mod file;
mod reader;
mod serve;
mod writer;

pub use serve::{serve_files, serve_stdio};
