//! Clients of protected servers, against worlds that are honest and worlds that are not.

mod browser;
mod discovery;
mod grants;
mod registration;
mod renewal;
mod response;
mod safety;
mod scope;
mod secrecy;
pub(crate) mod world;
