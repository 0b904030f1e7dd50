//! The messages of `resources/*`.

use serde::{Deserialize, Serialize};

use crate::{
    CacheScope, Cursor, InputResponses, Meta, OtherMembers, Resource, ResourceContents,
    ResourceTemplate, cache::cacheable, json, setter::setters,
};

/// The answer to `resources/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourcesResult {
    /// The resources of this page.
    pub resources: Vec<Resource>,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// For how many milliseconds the page is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached page may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ListResourcesResult {
    /// The only page of a list.
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            ..Self::default()
        }
    }
}

setters! {
    impl ListResourcesResult {
        fn with_next_cursor(next_cursor: impl Into<Cursor>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_cache_scope(cache_scope: CacheScope);
        fn with_meta(meta: Meta);
    }
}

/// The answer to `resources/templates/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListResourceTemplatesResult {
    /// The templates of this page.
    pub resource_templates: Vec<ResourceTemplate>,
    /// Where the next page starts, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// For how many milliseconds the page is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached page may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ListResourceTemplatesResult {
    /// The only page of a list.
    pub fn new(resource_templates: Vec<ResourceTemplate>) -> Self {
        Self {
            resource_templates,
            ..Self::default()
        }
    }
}

setters! {
    impl ListResourceTemplatesResult {
        fn with_next_cursor(next_cursor: impl Into<Cursor>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_cache_scope(cache_scope: CacheScope);
        fn with_meta(meta: Meta);
    }
}

/// The params of `resources/subscribe` and `resources/unsubscribe`. Until 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceRequestParams {
    /// The resource meant.
    pub uri: String,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ResourceRequestParams {
    /// Names a resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
        }
    }
}

setters! {
    impl ResourceRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// The params of `resources/read`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceRequestParams {
    /// The resource to read.
    pub uri: String,
    /// Answers to what the server asked in the round before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// The state the server sent in the round before, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ReadResourceRequestParams {
    /// Asks for a resource.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::default()
        }
    }
}

setters! {
    impl ReadResourceRequestParams {
        fn with_input_responses(input_responses: InputResponses);
        fn with_request_state(request_state: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}

/// The answer to `resources/read`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents: one entry, or one for each part.
    pub contents: Vec<ResourceContents>,
    /// For how many milliseconds the contents are fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached contents may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ReadResourceResult {
    /// These contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self {
            contents,
            ..Self::default()
        }
    }
}

setters! {
    impl ReadResourceResult {
        fn with_ttl_ms(ttl_ms: u64);
        fn with_cache_scope(cache_scope: CacheScope);
        fn with_meta(meta: Meta);
    }
}

/// Says that a resource changed: `notifications/resources/updated`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// The resource, or a part of the one that was subscribed to.
    pub uri: String,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl ResourceUpdatedNotificationParams {
    /// Names the resource that changed.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl ResourceUpdatedNotificationParams {
        fn with_meta(meta: Meta);
    }
}

cacheable!(
    ListResourcesResult,
    ListResourceTemplatesResult,
    ReadResourceResult
);
