//! Opening a connection to a server at a URL, and keeping it: modern servers, sessions of
//! Streamable HTTP, and HTTP+SSE.
//!
//! Notifications and answers are sent by a task of the connection ([`driver`], [`telling`]). Messages that belong to
//! no request come on an event stream, which another task of the connection reads ([`session_stream`],
//! [`http_sse`]).

mod authorize;
mod driver;
mod http_sse;
mod route;
mod session_stream;
mod target;
mod telling;

pub(super) use route::HttpRoute;
pub(super) use session_stream::begin_session;
pub use target::HttpTarget;
