//! A request for a token, and the result of a grant.

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
    /// The thumbprint of the key in the client's DPoP proof.
    pub(crate) key: Option<String>,
}

/// The result of a grant.
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
