//! Roles: user or assistant.

use crate::word::open_words;

open_words! {
    /// The role of a speaker in a conversation with a model.
    ///
    /// The specification has two. An unknown role is kept unchanged, so that a single `system` message
    /// does not make the others unreadable.
    Role {
        /// The user, or the program that acts for the user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}
