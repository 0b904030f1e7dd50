//! The atomics and locks that `room.rs` uses. `loom/` replaces them.

pub(super) use std::sync::atomic::AtomicUsize;

pub(super) use turnbuckle_base::lock::Mutex;
