//! Reaching a server at a URL, before the first request: proxy, name, port, TLS.

mod certificate;
mod look;
mod tls;
mod walk;

pub(crate) use look::look;
pub(crate) use tls::distrust;
pub(crate) use walk::{is_loopback, walk};
