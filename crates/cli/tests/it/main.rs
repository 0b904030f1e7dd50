//! The demo server as a real process.

mod calls;
mod command_line;
mod demo;
mod ending;
mod inspect;
mod opening;
mod questions;
mod stdout;
