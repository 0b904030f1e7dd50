//! The server: its description of itself, and the visits to URLs that it requested.

mod server;
mod visits;

pub use server::Peer;
pub(crate) use visits::Visits;
