//! `initialize`: how a session opens, until 2025-11-25.

use serde::{Deserialize, Serialize};

use crate::{
    ClientCapabilities, Implementation, Meta, OtherMembers, ServerCapabilities, setter::setters,
};

/// The params of `initialize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InitializeRequestParams {
    /// The newest revision the client wants to speak, which may be one not known here.
    pub protocol_version: String,
    /// The capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// The name and version of the client.
    pub client_info: Implementation,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
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
    /// The capabilities of the server.
    pub capabilities: ServerCapabilities,
    /// The name and version of the server.
    pub server_info: Implementation,
    /// How to use the server, for the model to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Anything else the sender attached.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

setters! {
    impl InitializeResult {
        fn with_instructions(instructions: impl Into<String>);
        fn with_meta(meta: Meta);
    }
}
