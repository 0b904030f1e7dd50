//! What replicas keep of sessions of 2025-03-26 to 2025-11-25.
//!
//! The id of such a session holds its handshake, so that every replica can serve it. Only what the
//! client changes later is kept here, and of large handshakes the large part.

mod memory;
mod notes;

pub use memory::MemorySessions;
pub use notes::{MAX_RESOURCES, Note, SessionNotes, Sessions};
