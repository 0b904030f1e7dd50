//! Finding the way to a server, and finding out what it speaks.

mod attempt;
mod handshake;
mod memory;
mod road;
mod search;
mod target;

pub use attempt::Connect;
#[cfg(feature = "http")]
pub(crate) use handshake::initialize_again;
pub use target::{Dial, DialError, Pipe, Target};
