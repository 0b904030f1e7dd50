//! `server/discover`: the supported versions and capabilities of a server, since 2026-07-28.

use serde::{Deserialize, Serialize};

use crate::{
    CacheScope, Meta, OtherMembers, ServerCapabilities, cache::cacheable, json, setter::setters,
};

/// The answer to `server/discover`. The server's name and version are in its `_meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions that the server supports. They may include revisions that are not known here.
    pub supported_versions: Vec<String>,
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// Instructions for a model about using the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// How many milliseconds the result is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Whether the cached result may be shared between callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

setters! {
    impl DiscoverResult {
        fn with_instructions(instructions: impl Into<String>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_cache_scope(cache_scope: CacheScope);
        fn with_meta(meta: Meta);
    }
}

cacheable!(DiscoverResult);
