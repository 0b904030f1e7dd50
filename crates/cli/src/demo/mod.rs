//! The demo server: one example of everything a client may meet.

mod asks;
mod live;
mod prompts;
mod resources;
mod server;
mod tools;

pub(crate) use server::server;
