//! The door for HTTP from outside: real sockets, real clients, bad clients.

#[cfg(unix)]
mod files;
mod http1;
mod http2;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
mod patience;
mod raw;
mod site;
mod stop;
mod stream;
#[cfg(feature = "tls")]
mod tls;
#[cfg(unix)]
mod unix;
