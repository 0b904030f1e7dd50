//! `initialize`: how a session opens, until 2025-11-25.

use serde::{Deserialize, Serialize};

use crate::{
    ClientCapabilities, Implementation, Meta, Revision, ServerCapabilities, setter::setters,
};

/// What `initialize` takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// The newest revision the client wants to speak, which may be one not known here.
    pub protocol_version: String,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// Who the client is.
    pub client_info: Implementation,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

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

setters! {
    impl InitializeRequestParams {
        fn with_meta(meta: Meta);
    }
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeResult {
    /// The revision the session speaks.
    pub protocol_version: String,
    /// What the server can do.
    pub capabilities: ServerCapabilities,
    /// Who the server is.
    pub server_info: Implementation,
    /// How to use the server, for the model to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
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
        }
    }

    /// The revision the session speaks, if it is known here.
    pub fn revision(&self) -> Option<Revision> {
        Revision::from_date(&self.protocol_version)
    }
}

setters! {
    impl InitializeResult {
        fn with_instructions(instructions: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}
