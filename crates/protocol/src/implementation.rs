//! The name and version of a client or a server.

use serde::{Deserialize, Serialize};

use crate::{Icon, setter::setters};

/// The name and version of a program that uses the protocol, and members for displaying it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programmatic use.
    pub name: String,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version of the program.
    pub version: String,
    /// The description: one sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The URL of a website about the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Icons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<Vec<Icon>>,
}

impl Implementation {
    /// Creates a description with a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// Adds an icon.
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
