//! Params and results without members other than `_meta`.

use serde::{Deserialize, Serialize};

use crate::{Meta, OtherMembers, setter::setters};

/// The parameters of a request that has no parameters of its own: only `_meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RequestParams {
    /// Anything the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl RequestParams {
    /// An empty value. The connection adds the members that every message has.
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
    /// Anything the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl NotificationParams {
    /// An empty value. The connection adds the members that every message has.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl NotificationParams {
        fn with_meta(meta: Meta);
    }
}

/// A result that says only: done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EmptyResult {
    /// Anything the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl EmptyResult {
    /// An empty value. The connection adds the members that every message has.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl EmptyResult {
        fn with_meta(meta: Meta);
    }
}
