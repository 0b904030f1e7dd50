//! The lock file: the approved definitions of each server, and the differences from them.
//!
//! A [`Lock`] pins the tools, the prompts and the instructions of a server when the server is first
//! used, and compares them with what the server offers later. With [`LockMode::Enforce`] changed
//! entries are withheld until they are approved, each one separately; with [`LockMode::Audit`] they
//! are reported. Give the lock to [`Gateway::lock`](crate::Gateway::lock).

mod difference;
mod file;
mod keeper;
mod offered;
mod pin;

pub use difference::{Difference, LockDifference, LockKind};
pub use file::LockError;
pub use keeper::{Lock, LockMode};
pub(crate) use offered::Offered;
