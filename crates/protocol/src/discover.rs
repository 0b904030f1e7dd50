//! `server/discover`: what a server speaks and can do, since 2026-07-28.

use serde::{Deserialize, Serialize};

use crate::{CacheScope, Meta, Revision, ServerCapabilities, json, setter::setters};

/// The answer to `server/discover`. Who the server is stands in its `_meta`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiscoverResult {
    /// The revisions the server speaks, which may be ones not known here.
    pub supported_versions: Vec<String>,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// How to use the server, for the model to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// For how many milliseconds this is fresh.
    #[serde(
        default,
        deserialize_with = "json::millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<u64>,
    /// Who may share this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl DiscoverResult {
    /// What a server speaks and can do.
    pub fn new(revisions: &[Revision], capabilities: ServerCapabilities) -> Self {
        let supported_versions = revisions
            .iter()
            .map(|revision| revision.as_str().to_owned())
            .collect();
        Self {
            supported_versions,
            capabilities,
            ..Self::default()
        }
    }

    /// The revisions the server speaks that are known here, newest first.
    pub fn revisions(&self) -> Vec<Revision> {
        let versions = &self.supported_versions;
        let mut known: Vec<_> = versions
            .iter()
            .filter_map(|version| Revision::from_date(version))
            .collect();
        known.sort_unstable_by(|left, right| right.cmp(left));
        known.dedup();
        known
    }
}

setters! {
    impl DiscoverResult {
        fn with_instructions(instructions: impl Into<String>);
        fn with_ttl_ms(ttl_ms: u64);
        fn with_cache_scope(cache_scope: CacheScope);
        fn with_meta(meta: Meta);
    }
}
