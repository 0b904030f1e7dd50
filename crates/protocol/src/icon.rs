//! Icons that a user interface may show beside a name.

use serde::{Deserialize, Serialize};

use crate::{setter::setters, word::open_words};

/// An image for a server, tool, resource or prompt, in one or more sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// The source of the image: an `https:` or `data:` URI.
    pub src: String,
    /// The media type, if it is not clear from the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes, such as `48x48`, or `any` for a scalable image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The background that the image was drawn for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

impl Icon {
    /// Creates an icon with this source, for any size and background.
    pub fn new(src: impl Into<String>) -> Self {
        Self {
            src: src.into(),
            mime_type: None,
            sizes: None,
            theme: None,
        }
    }

    /// Adds a size.
    pub fn with_size(mut self, size: impl Into<String>) -> Self {
        self.sizes.get_or_insert_default().push(size.into());
        self
    }

    /// Returns whether a user interface may load the image: its source is an `https:` URL, or an image
    /// in a `data:` URI. Anything else may run code or read files.
    ///
    /// The code that loads it must also send no credentials, follow no redirect to another origin, and
    /// detect the image format from the bytes instead of the given media type.
    ///
    /// ```
    /// use turnbuckle_protocol::Icon;
    ///
    /// assert!(Icon::new("https://example.com/icon.png").may_be_loaded());
    /// assert!(!Icon::new("javascript:alert(1)").may_be_loaded());
    /// ```
    pub fn may_be_loaded(&self) -> bool {
        let starts_with = |prefix: &str| {
            let start = self.src.get(..prefix.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
        };
        starts_with("https://") || starts_with("data:image/")
    }
}

setters! {
    impl Icon {
        fn with_mime_type(mime_type: impl Into<String>);
        fn with_theme(theme: IconTheme);
    }
}

open_words! {
    /// The background that an icon was drawn for.
    IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: J13
    // icons: consumers MUST reject sources that are neither `https:` nor `data:`.
    #[test]
    fn only_pictures_from_safe_places_are_loaded() {
        for safe in [
            "https://example.com/icon.png",
            "HTTPS://example.com/icon.jpg",
            "data:image/png;base64,iVBORw0KGgo=",
            "data:image/jpeg;base64,/9j/",
        ] {
            assert!(Icon::new(safe).may_be_loaded(), "{safe}");
        }
        for unsafe_source in [
            "",
            "icon.png",
            "http://example.com/icon.png",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://example.com/icon.png",
            "ws://example.com/",
            "data:text/html,<script>alert(1)</script>",
            " https://example.com/icon.png",
            "ℎttps://example.com/icon.png",
        ] {
            assert!(!Icon::new(unsafe_source).may_be_loaded(), "{unsafe_source}");
        }
    }
}
