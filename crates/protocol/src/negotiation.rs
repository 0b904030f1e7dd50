//! The messages that contain a revision: the handshake, `server/discover`, each modern request, and the
//! error for a version that a server does not support.
//!
//! The types themselves keep the date as text, because a peer may support a revision that is unknown
//! here.

use crate::{
    ClientCapabilities, DiscoverResult, ErrorObject, Implementation, InitializeRequestParams,
    InitializeResult, Meta, Revision, ServerCapabilities, UnsupportedProtocolVersion, error::code,
    meta::key,
};

impl InitializeRequestParams {
    /// Creates the params for opening a session.
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

    /// Returns the requested revision, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        Revision::from_date(&self.protocol_version)
    }
}

impl InitializeResult {
    /// Creates the answer that opens a session.
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

    /// Returns the revision of the session, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        Revision::from_date(&self.protocol_version)
    }
}

impl DiscoverResult {
    /// Creates a result with the revisions and capabilities of a server.
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

    /// Returns the revisions of the server that are known here, newest first.
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
    /// Creates the `_meta` members that every modern request must have.
    pub fn of_request(revision: Revision, capabilities: &ClientCapabilities) -> Self {
        Self::new()
            .with(key::PROTOCOL_VERSION, revision)
            .with(key::CLIENT_CAPABILITIES, capabilities)
    }
}

impl ErrorObject {
    /// Creates an error: the server does not support the revision of the request.
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
