//! Pages of a list.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Meta, setter::setters};

/// Where the next page of a list starts. Only the server that made it knows what it means.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(pub String);

impl Cursor {
    /// The text of the cursor.
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
    /// The cursor of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl PaginatedRequestParams {
    /// Asks for the first page.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for the page after this cursor.
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
