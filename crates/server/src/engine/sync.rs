//! The atomics and locks that `usage_counter.rs` uses. `loom/` replaces them.

pub(super) use std::sync::atomic::AtomicUsize;

pub(super) use turnbuckle_base::lock::Mutex;
