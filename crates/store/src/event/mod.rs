//! Events of streams that outlive the replica that sent them.

mod log;
mod memory;

pub use log::{EventLog, LoggedEvent};
pub use memory::MemoryEvents;
