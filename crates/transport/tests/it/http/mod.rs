//! The HTTP server from outside: real sockets, real clients, misbehaving clients.

mod agent;
#[cfg(unix)]
mod files;
mod http1;
mod http2;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
mod raw;
mod site;
mod stop;
mod stream;
mod timeouts;
#[cfg(feature = "tls")]
mod tls;
#[cfg(unix)]
mod unix;
