//! Roles: user or assistant.

use crate::word::open_words;

open_words! {
    /// One side of a conversation with a model.
    ///
    /// The specification has two. A word that it does not have is kept as it came, so that one
    /// message of a `system` does not make the others unreadable.
    Role {
        /// The user, or the program that speaks for them.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
