//! Requests and answers handed on as they are, for gateways and bridges: params, results, errors,
//! progress, log messages and what servers ask, all as raw JSON.

mod call;
mod connection;
mod request;

pub use call::RelayCall;
pub use request::RelayRequest;
