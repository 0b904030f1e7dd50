//! The grants, one file for each, and how tokens are renewed and revoked.

mod authorization_code;
mod client_credentials;
mod enterprise;
mod refresh;
mod revoke;
#[cfg(feature = "server")]
mod token_exchange;
mod workload;
