//! Errors of a store of tasks.

use crate::StoreError;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TasksError {
    /// The owner has as many tasks as one may have.
    #[error(
        "there are {limit} tasks of this caller already: wait until some of them expire, or raise \
         `MemoryLimits::per_owner`"
    )]
    OwnerFull {
        /// How many one owner may have.
        limit: usize,
    },
    /// The tasks of the owner take as many bytes as one may have.
    #[error(
        "the tasks of this caller take {limit} bytes already: wait until some of them expire, or raise \
         `MemoryLimits::bytes_per_owner`"
    )]
    OwnerBytes {
        /// How many bytes the tasks of one owner may take.
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
        /// How many bytes.
        bytes: usize,
    },
    /// Another task has the id.
    #[error("there is a task with this id already")]
    Taken,
    /// The cursor was not made by this store.
    #[error("unknown cursor; start from the beginning")]
    BadCursor,
    /// What the store has of a task cannot be read: it is damaged, or a newer version wrote it.
    /// Trying again does not help.
    #[error("the stored task cannot be read by this version: {0}")]
    Unreadable(#[source] StoreError),
    /// The store itself failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
