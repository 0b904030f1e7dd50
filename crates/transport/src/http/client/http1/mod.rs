//! Plain HTTP/1.1 without a proxy: each request drives the connection that it uses.
//!
//! Our code writes the request, parses the head of the response with httparse, and reads the body, all
//! directly on the socket, for two reasons. A call that waits for hours, such as one that a gateway has
//! parked, holds a socket and no buffers; hyper would hold 8 KiB for reading, 8 KiB for writing, and
//! the buffers behind the last pieces of the response. And no data passes between tasks: only the
//! arrival of the response wakes the task that sent the request.
//!
//! HTTP/2 shares one connection between requests, so it needs a task of its own. It is only used with
//! TLS, and uses hyper's pool, as connections to proxies do.

mod body;
mod chunked;
mod exchange;
mod head;
mod pool;
mod unsent;

pub(super) use body::Body;
pub(super) use exchange::{Exchange, SendError};
pub(super) use head::HeadError;
