//! The ways to get tokens, one file for each; and what becomes of them after.

mod authorization_code;
mod client_credentials;
mod enterprise;
mod refresh;
mod revoke;
mod workload;
