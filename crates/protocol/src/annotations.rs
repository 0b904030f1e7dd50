//! Annotations: the audience and the priority of content.

use serde::{Deserialize, Serialize};

use crate::{Role, json, setter::setters};

/// Hints to a client about a resource or a piece of content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// The audience.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audience: Option<Vec<Role>>,
    /// The importance, from 0 (may be left out) to 1 (must not be left out).
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub priority: Option<f64>,
    /// When it last changed, as an ISO 8601 time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Annotations {
    /// Creates empty annotations.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl Annotations {
        fn with_audience(audience: Vec<Role>);
        fn with_priority(priority: f64);
        fn with_last_modified(last_modified: impl Into<String>);
    }
}
