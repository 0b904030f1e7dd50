//! Errors of a journal.

use std::fmt;

use super::{MAX_JOURNAL_BYTES, MAX_JOURNAL_ENTRIES};

/// The kind of a journal entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A question.
    Ask,
    /// An answer of the client.
    Answer,
    /// A value that the handler stores.
    Memo,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ask => "ask",
            Self::Answer => "the answer to",
            Self::Memo => "memo",
        })
    }
}

/// Why something cannot be recorded in a [`Journal`](super::Journal).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The handler ran again and asked another question under the key.
    #[error(
        "ask `{key:.64}` changed between two runs of the handler, which must ask the same question \
         under the same key each time; keep the values that the question depends on in a memo, or \
         use another key"
    )]
    Changed {
        /// The key.
        key: String,
    },
    /// The journal has too few bytes left.
    #[error(
        "{entry} `{key:.64}` needs {bytes} bytes, but only {left} of {MAX_JOURNAL_BYTES} are left; \
         store large values elsewhere and keep only their ids in memos"
    )]
    TooLarge {
        /// The kind of entry.
        entry: Entry,
        /// Its key.
        key: String,
        /// The bytes that it needs.
        bytes: usize,
        /// The bytes that are left.
        left: usize,
    },
    /// The journal has too many entries.
    #[error(
        "{entry} `{key:.64}` exceeds the limit of {MAX_JOURNAL_ENTRIES} entries for one call; \
         combine related questions in one form"
    )]
    TooMany {
        /// The kind of entry.
        entry: Entry,
        /// Its key.
        key: String,
    },
    /// An answer to a question that was not asked.
    #[error("nothing was asked under `{key:.64}`")]
    NotAsked {
        /// The key.
        key: String,
    },
    /// A value that cannot be serialised as JSON.
    #[error("memo `{key:.64}` cannot be written as JSON")]
    Unwritable {
        /// The key.
        key: String,
        /// The reason.
        source: serde_json::Error,
    },
}
