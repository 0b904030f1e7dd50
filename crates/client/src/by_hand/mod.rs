//! Calls whose questions are answered by hand: what a server asks comes back as plain data, and the
//! call goes on when the answers are there.
//!
//! A modern call is paused on the server's side, so what is [`Pending`] is all there is to it: it can
//! be written down and resumed by another process. A session asks in the middle of a call that
//! stays open, so its call is parked and can be resumed for as long as the connection is there.

mod connection;
mod pending;
mod run;

pub use connection::ByHand;
pub use pending::{Answerable, Pending, Round};
