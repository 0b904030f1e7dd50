//! What can go wrong: while connecting, and during a call.

mod call_error;
mod connect_error;
mod passing;

pub use call_error::CallError;
pub use connect_error::ConnectError;
