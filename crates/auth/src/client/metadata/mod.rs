//! The documents by which servers say where and how to get tokens, and the places where they are.

mod authorization_server;
mod protected_resource;
pub(crate) mod well_known;

pub(crate) use authorization_server::AuthorizationServer;
pub(crate) use protected_resource::ProtectedResource;
