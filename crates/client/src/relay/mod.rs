//! Requests and answers passed on unchanged, for gateways and bridges: params, results, errors,
//! progress, log messages and requests of servers, all as raw JSON.

mod call;
mod connection;
mod request;

pub use call::RelayCall;
pub use request::RelayRequest;
