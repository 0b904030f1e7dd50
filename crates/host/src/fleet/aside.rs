//! Runs long work in separate tasks.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Runs work that takes long, such as reading a list of thousands of entries. On a multi-threaded
/// runtime the other tasks of this thread continue on other threads meanwhile.
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
