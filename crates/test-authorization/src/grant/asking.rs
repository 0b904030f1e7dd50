//! A request for a token, and what a grant gives for it.

use serde_json::Value;

use crate::{
    client_proof::Known,
    form::Form,
    state::{Grant, Site},
};

/// One request for a token.
pub(crate) struct Asking<'a> {
    pub(crate) site: &'a Site,
    pub(crate) form: &'a Form,
    pub(crate) client: Option<Known>,
    /// The thumbprint of the key that the client proves to have.
    pub(crate) key: Option<String>,
}

/// What a grant gives.
pub(crate) enum Given {
    /// An access token, and a refresh token of this family.
    Both { grant: Grant, family: String },
    /// An access token.
    Access(Grant),
    /// An access token, in exchange for another.
    Exchanged(Grant),
    /// Something other than an access token.
    Other(Value),
}
