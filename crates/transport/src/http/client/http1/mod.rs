//! Plain HTTP/1.1 without a proxy: each request drives the connection that it uses.
//!
//! Our code writes the request, has httparse read the head of the answer, and reads the body, all of
//! it from and to the socket itself, for two reasons. A call that waits for hours, as one that a
//! gateway has parked, holds a socket and no buffers; hyper holds 8 KiB to read into, 8 KiB to write
//! from, and what the last pieces of the answer are slices of. And nothing is handed between tasks:
//! the task that sent the request is woken when the answer is there, and by nothing else.
//!
//! HTTP/2 shares one connection between requests, so it needs a task of its own. It comes with TLS
//! alone, and has hyper's pool; so have connections to proxies.

mod body;
mod chunked;
mod exchange;
mod head;
mod pool;
mod unsent;

pub(super) use body::Body;
pub(super) use exchange::{Exchange, SendError};
pub(super) use head::HeadError;
