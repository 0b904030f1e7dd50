//! Errors of connecting and of calls, and how a connection ended.

mod call_error;
mod connect_error;
mod ending;
mod passing;

pub use call_error::CallError;
pub use connect_error::ConnectError;
pub use ending::Ending;
