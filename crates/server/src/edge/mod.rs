//! Incoming messages: connections of lines, and HTTP.

mod batch;
pub(crate) mod connection;
#[cfg(feature = "http")]
pub(crate) mod http;
mod notification;
mod oversized;
pub(crate) mod running;
