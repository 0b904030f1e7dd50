//! Servers at a URL: modern ones, sessions of Streamable HTTP, and HTTP+SSE.
//!
//! A request is one POST, driven by the future of its call: what comes back is read there, and
//! dropping the call closes its stream. What is said without waiting for an answer goes through the
//! connection's own task ([`driver`]). What a server says by itself comes by a stream of events,
//! read by a task of the connection ([`listen`], [`http_sse`]).

mod driver;
mod exchange;
mod fault;
mod head;
mod http_sse;
mod listen;
mod patient;
mod position;
mod refusal;
mod road;
mod session;
mod target;
mod tools;
mod wire;

pub(crate) use driver::open_http;
pub(crate) use exchange::{Answered, Post};
pub(crate) use fault::Fault;
pub(crate) use road::HttpRoad;
pub(crate) use tools::KnownTools;
pub(crate) use wire::Http;

pub use target::HttpTarget;
pub use tools::ExcludedTool;
