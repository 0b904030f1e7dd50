//! Finding the way to a server, and finding out what it speaks.

mod attempt;
mod handshake;
mod memory;
mod search;
mod target;

pub use attempt::Connect;
pub(crate) use target::BoxFuture;
pub use target::{Dial, DialError, Pipe, Target};
