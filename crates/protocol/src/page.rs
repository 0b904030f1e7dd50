//! Pages of a list.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Meta, setter::setters};

/// The position of the next page of a list. It is opaque: only the server that created it can interpret
/// it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

impl Cursor {
    /// Returns the text of the cursor.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<T: Into<String>> From<T> for Cursor {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

/// The params of list requests: the cursor of the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PaginatedRequestParams {
    /// The cursor from the previous page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl PaginatedRequestParams {
    /// Requests the first page.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests the page after this cursor.
    pub fn after(cursor: impl Into<Cursor>) -> Self {
        Self {
            cursor: Some(cursor.into()),
            meta: None,
        }
    }
}

setters! {
    impl PaginatedRequestParams {
        fn with_meta(meta: Meta);
    }
}
