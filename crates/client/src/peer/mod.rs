//! The server at the other end: what it says about itself, and the visits to URLs that it asked for.

mod server;
mod visits;

pub use server::Peer;
pub(crate) use visits::Visits;
