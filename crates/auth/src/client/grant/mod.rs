//! The ways to get tokens, one file for each; and what becomes of them after.

mod authorization_code;
mod client_credentials;
mod enterprise;
mod refresh;
mod revoke;
#[cfg(feature = "server")]
mod token_exchange;
mod workload;
