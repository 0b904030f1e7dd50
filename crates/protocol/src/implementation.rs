//! The name and version of a client or a server.

use serde::{Deserialize, Serialize};

use crate::{Icon, setter::setters};

/// The name and version of a program that speaks the protocol, and how to show it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version of the program.
    pub version: String,
    /// The description, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where to read about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Pictures for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
}

impl Implementation {
    /// A program by its name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Adds a picture.
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.get_or_insert_default().push(icon);
        self
    }
}

setters! {
    impl Implementation {
        fn with_title(title: impl Into<String>);
        fn with_description(description: impl Into<String>);
        fn with_website_url(website_url: impl Into<String>);
    }
}
