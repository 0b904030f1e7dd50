//! The common part of all commands: the server to connect to, arguments, errors and exit codes.
//!
//! [`target`] finds the server that the arguments name and connects to it, [`argument`] converts
//! `key=value` to JSON, and [`shell`] quotes words for a command line. [`wire`] shows and records the
//! messages of a connection without the [`secret`]s in them, and [`failure`] defines how a command that
//! failed ends: with an exit code and a hint. The binary, the doctor and the inspector share all of it.

// `control::tell` prints on stderr and does not panic if stderr is closed.
#![deny(clippy::print_stderr)]

pub mod argument;
pub mod control;
pub mod failure;
mod http_head;
pub mod input;
pub mod private;
pub mod secret;
pub mod shell;
pub mod sign_in;
pub mod state_folder;
pub mod style;
pub mod target;
pub mod trust;
pub mod wire;
