//! The atomics and locks of `room.rs`. `loom/` has others in their place.

pub(super) use std::sync::atomic::AtomicUsize;

pub(super) use turnbuckle_base::lock::Mutex;
