//! Where messages come in and answers leave: connections that carry lines, and HTTP.

mod batch;
pub(crate) mod connection;
#[cfg(feature = "http")]
pub(crate) mod http;
mod notification;
mod oversized;
pub(crate) mod running;
