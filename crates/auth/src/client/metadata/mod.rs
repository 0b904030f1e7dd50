//! Metadata documents, which tell clients where and how to get tokens, and their URLs.

mod authorization_server;
mod protected_resource;
pub(crate) mod well_known;

pub(crate) use authorization_server::AuthorizationServer;
pub(crate) use protected_resource::ProtectedResource;
