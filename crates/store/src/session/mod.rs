//! Stored state of sessions of 2025-03-26 to 2025-11-25.
//!
//! The id of such a session contains its handshake, so that every replica can serve it. Only what
//! the client changes later is stored here, and the large part of large handshakes.

mod memory;
mod state;

pub use memory::MemorySessions;
pub use state::{MAX_RESOURCES, SessionChange, SessionState, Sessions};
