//! Clients of protected servers, tested against honest and malicious worlds.

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
