//! Where messages name a revision: the handshake, `server/discover`, each modern request, and the
//! error for a version that a server does not speak.
//!
//! The types themselves keep the date as text, since a peer may speak a revision that is not known
//! here.

use crate::{
    ClientCapabilities, DiscoverResult, ErrorObject, Implementation, InitializeRequestParams,
    InitializeResult, Meta, Revision, ServerCapabilities, UnsupportedProtocolVersion, error::code,
    meta::key,
};

impl InitializeRequestParams {
    /// Asks for a session.
    pub fn new(
        revision: Revision,
        capabilities: ClientCapabilities,
        client: Implementation,
    ) -> Self {
        let protocol_version = revision.as_str().to_owned();
        Self {
            protocol_version,
            capabilities,
            client_info: client,
            meta: None,
        }
    }

    /// The revision asked for, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        Revision::from_date(&self.protocol_version)
    }
}

impl InitializeResult {
    /// Opens a session.
    pub fn new(
        revision: Revision,
        capabilities: ServerCapabilities,
        server: Implementation,
    ) -> Self {
        Self {
            protocol_version: revision.as_str().to_owned(),
            capabilities,
            server_info: server,
            instructions: None,
            meta: None,
            other: crate::OtherMembers::new(),
        }
    }

    /// The revision the session speaks, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        Revision::from_date(&self.protocol_version)
    }
}

impl DiscoverResult {
    /// The revisions and capabilities of a server.
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

impl Meta {
    /// The `_meta` members that every modern request must have.
    pub fn of_request(revision: Revision, capabilities: &ClientCapabilities) -> Self {
        Self::new()
            .with(key::PROTOCOL_VERSION, revision)
            .with(key::CLIENT_CAPABILITIES, capabilities)
    }
}

impl ErrorObject {
    /// The request was written for a revision the server does not speak.
    pub fn unsupported_version(requested: impl Into<String>, supported: &[Revision]) -> Self {
        let requested = requested.into();
        let supported = supported
            .iter()
            .map(|revision| revision.as_str().to_owned())
            .collect();
        let message = format!("protocol version `{requested}` is not supported");
        Self::new(code::UNSUPPORTED_PROTOCOL_VERSION, message).with_data(
            UnsupportedProtocolVersion {
                supported,
                requested,
            },
        )
    }
}
