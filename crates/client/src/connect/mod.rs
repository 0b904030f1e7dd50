//! Finding the way to a server, and finding out what it speaks.

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
