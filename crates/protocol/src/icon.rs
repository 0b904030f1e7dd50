//! Icons a user interface may show beside a name.

use serde::{Deserialize, Serialize};

use crate::word::open_words;

/// A picture for a server, tool, resource or prompt, in one or more sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// Where the picture is: an `https:` or `data:` URI.
    pub src: String,
    /// The media type, if it is not plain from the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes it is good for, as `48x48`, or `any` for a scalable picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The background it was drawn for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

impl Icon {
    /// An icon at this address, for any size and background.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: None,
            sizes: None,
            theme: None,
        }
    }

    /// Names the media type.
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Adds a size the picture is good for.
    pub fn with_size(mut self, size: impl Into<String>) -> Self {
        self.sizes.get_or_insert_default().push(size.into());
        self
    }

    /// Names the background the picture was drawn for.
    pub fn with_theme(mut self, theme: IconTheme) -> Self {
        self.theme = Some(theme);
        self
    }
}

open_words! {
    /// The background an icon was drawn for.
    IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}
