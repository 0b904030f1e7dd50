//! Roots: folders and files that a client lets a server work in.

use std::{fmt::Write as _, path::Path};

use serde::{Deserialize, Serialize};

use crate::{Meta, OtherMembers, setter::setters};

/// A folder or file that a server may work in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// The URI, a `file:` URI.
    pub uri: String,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl Root {
    /// Creates a root with this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }

    /// Creates a root for a folder from its absolute path, with the folder's name.
    ///
    /// ```
    /// let root = turnbuckle_protocol::Root::folder("/home/ada/my notes".as_ref());
    /// assert_eq!(root.uri, "file:///home/ada/my%20notes");
    /// assert_eq!(root.name.as_deref(), Some("my notes"));
    /// ```
    pub fn folder(path: &Path) -> Self {
        let text = path.to_string_lossy();
        let mut uri = String::from("file://");
        if !text.starts_with('/') {
            uri.push('/');
        }
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z'
                | b'A'..=b'Z'
                | b'0'..=b'9'
                | b'/'
                | b'-'
                | b'_'
                | b'.'
                | b'~'
                | b':' => {
                    uri.push(char::from(byte));
                }
                b'\\' => uri.push('/'),
                other => {
                    let _ = write!(uri, "%{other:02X}");
                }
            }
        }
        Self {
            name: path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned()),
            ..Self::new(uri)
        }
    }
}

setters! {
    impl Root {
        fn with_name(name: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}

/// The answer to `roots/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// Metadata that the sender attached (`_meta`). Until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ListRootsResult {
    /// Creates a result with these roots.
    pub fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl ListRootsResult {
        fn with_meta(meta: Meta);
    }
}
