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
        "ask `{key:.64}` is not the question it was before; a handler that runs again must ask the same \
         under the same key: keep what the question is made of in a memo, or use another key"
    )]
    Changed {
        /// The key.
        key: String,
    },
    /// The journal has too few bytes left.
    #[error(
        "{entry} `{key:.64}` needs {bytes} bytes of the {left} left of {MAX_JOURNAL_BYTES}; keep a name \
         for it here and the thing itself elsewhere"
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
        "{entry} `{key:.64}` is one more than the {MAX_JOURNAL_ENTRIES} entries of one call; ask in one \
         form what belongs together"
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
