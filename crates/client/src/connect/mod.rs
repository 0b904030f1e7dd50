//! Connecting to a server, and detecting its revision.

mod attempt;
mod handshake;
#[cfg(feature = "http")]
mod http;
mod memory;
mod route;
mod search;
mod target;

pub use attempt::Connect;
#[cfg(feature = "http")]
pub use http::HttpTarget;
pub use target::{Dial, DialError, Target};
