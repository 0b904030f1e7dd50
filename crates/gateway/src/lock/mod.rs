//! The lock file: the approved definitions of each server, and what has changed since.
//!
//! A [`Lock`] pins the tools, the prompts and the instructions of a server when it is first used, and
//! compares what the server offers later. With [`LockMode::Enforce`] what changed is withheld until it
//! is approved, one tool at a time; with [`LockMode::Audit`] it is reported. Give it to
//! [`Gateway::lock`](crate::Gateway::lock).

mod difference;
mod file;
mod keeper;
mod offered;
mod pin;

pub use difference::{Difference, LockDifference, LockKind};
pub use file::LockError;
pub use keeper::{Lock, LockMode};
pub(crate) use offered::Offered;
