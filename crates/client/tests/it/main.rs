//! The client against servers that are written down: transcripts over an in-memory connection, and
//! odd programs as real child processes.

mod calls;
mod opening;
mod script;
