//! Opening a connection to a server at a URL, and keeping it: modern servers, sessions of
//! Streamable HTTP, and HTTP+SSE.
//!
//! What is said without waiting for an answer goes through the connection's own task ([`driver`]).
//! What a server says by itself comes by a stream of events, read by a task of the connection
//! ([`session_stream`], [`http_sse`]).

mod authorize;
mod driver;
mod http_sse;
mod route;
mod session_stream;
mod target;

pub(super) use route::HttpRoute;
pub(super) use session_stream::begin_session;
pub use target::HttpTarget;
