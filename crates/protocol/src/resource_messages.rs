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
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How many milliseconds the page is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached page may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ListResourcesResult {
    /// Creates a list with a single page.
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
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How many milliseconds the page is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached page may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ListResourceTemplatesResult {
    /// Creates a list with a single page.
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
    /// The URI of the resource.
    pub uri: String,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ResourceRequestParams {
    /// Creates the params for a resource.
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
    /// The URI of the resource.
    pub uri: String,
    /// The answers to the server's questions of the previous round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// The state that the server sent in the previous round, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ReadResourceRequestParams {
    /// Creates the params for reading a resource.
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
    /// How many milliseconds the contents are fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached contents may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ReadResourceResult {
    /// Creates a result with these contents.
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

/// The params of `notifications/resources/updated`: a resource has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceUpdatedNotificationParams {
    /// The URI of the resource, or of a part of the subscribed resource.
    pub uri: String,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl ResourceUpdatedNotificationParams {
    /// Creates the params for the changed resource.
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
