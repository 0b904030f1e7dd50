//! Calls whose questions are answered by hand: the server's questions are returned as plain data, and
//! the call is resumed with the answers.
//!
//! A modern call is not open at the server while it waits for answers, so [`Pending`] contains all of
//! it: it can be stored, and resumed by another process. A server in a session asks in the middle of a
//! call that stays open, so such a call is parked, and can be resumed while the connection is open.

mod connection;
mod pending;
mod run;

pub use connection::ByHand;
pub use pending::{Answerable, Pending, Round};
