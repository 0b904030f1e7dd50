//! Runs long work in separate tasks.

use tokio::runtime::{Handle, RuntimeFlavor};

/// Does work that takes long, such as to read a list of thousands of entries. On a runtime with several
/// threads the other tasks of this thread go on meanwhile.
pub(super) fn aside<T>(work: impl FnOnce() -> T) -> T {
    let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
