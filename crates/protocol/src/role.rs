//! Who speaks, and to whom something is addressed.

use serde::{Deserialize, Serialize};

/// One side of a conversation with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The person, or the program that speaks for them.
    User,
    /// The model.
    Assistant,
}
