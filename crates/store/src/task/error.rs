//! Errors of a store of tasks.

use crate::StoreError;

/// Why a store of tasks did not carry out an operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TasksError {
    /// The owner already has the maximum number of tasks.
    #[error(
        "there are {limit} tasks of this caller already: wait until some of them expire, or raise \
         `MemoryLimits::per_owner`"
    )]
    OwnerFull {
        /// The most tasks of one owner.
        limit: usize,
    },
    /// The tasks of the owner already take the maximum number of bytes.
    #[error(
        "the tasks of this caller take {limit} bytes already: wait until some of them expire, or raise \
         `MemoryLimits::bytes_per_owner`"
    )]
    OwnerBytes {
        /// The most bytes of the tasks of one owner.
        limit: usize,
    },
    /// The store is full.
    #[error(
        "the task store is full: wait until some tasks expire, or raise \
         `MemoryLimits::tasks` and `MemoryLimits::bytes`"
    )]
    Full,
    /// The data of a task is too large.
    #[error(
        "a task of {bytes} bytes exceeds the limit: see `MemoryLimits::bytes` and \
         `MemoryLimits::bytes_per_owner`"
    )]
    TooLarge {
        /// The size in bytes.
        bytes: usize,
    },
    /// The id is already used by another task.
    #[error("there is a task with this id already")]
    Taken,
    /// The cursor was not made by this store.
    #[error("unknown cursor; start from the beginning")]
    BadCursor,
    /// The stored task cannot be read: it is damaged, or was written by a newer version. Retrying
    /// does not help.
    #[error("the stored task cannot be read by this version: {0}")]
    Unreadable(#[source] StoreError),
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
