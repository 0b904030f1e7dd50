//! The `_meta` of every request of a connection.

use turnbuckle_protocol::{LoggingLevel, Meta, Revision};

use crate::profile::Profile;

/// The members that every request of a connection carries in `_meta`, as JSON without the braces. Empty
/// in the legacy era, where the handshake contains this information.
#[derive(Clone, Debug, Default)]
pub(super) struct CommonMeta {
    pub(super) members: Box<str>,
    /// The log level for all requests that do not set their own.
    pub(super) log_level: Option<LoggingLevel>,
    /// The revision that these members name.
    pub(super) revision: Option<Revision>,
}

impl CommonMeta {
    /// The `_meta` that requests of this revision must have.
    pub(super) fn new(
        revision: Revision,
        profile: &Profile,
        log_level: Option<LoggingLevel>,
    ) -> Self {
        if !revision.is_modern() {
            return Self::default();
        }
        let capabilities = profile.capabilities(revision);
        let meta = Meta::of_request(revision, &capabilities).with_client_info(&profile.client);
        let object = serde_json::to_string(&meta).expect("a map of JSON values is valid JSON");
        Self {
            members: object[1..object.len() - 1].into(),
            log_level,
            revision: Some(revision),
        }
    }
}
