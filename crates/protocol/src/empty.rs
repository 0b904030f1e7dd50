//! Params and results without members other than `_meta`.

use serde::{Deserialize, Serialize};

use crate::{Meta, OtherMembers, setter::setters};

/// The parameters of a request that has no parameters of its own: only `_meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestParams {
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl RequestParams {
    /// Creates empty params. The connection adds the members that every message has.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl RequestParams {
        fn with_meta(meta: Meta);
    }
}

/// The parameters of a notification that has no parameters of its own: only `_meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NotificationParams {
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl NotificationParams {
    /// Creates empty params. The connection adds the members that every message has.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl NotificationParams {
        fn with_meta(meta: Meta);
    }
}

/// An empty result: the request succeeded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl EmptyResult {
    /// Creates an empty result. The connection adds the members that every message has.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl EmptyResult {
        fn with_meta(meta: Meta);
    }
}
