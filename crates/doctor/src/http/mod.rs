//! A server at a URL: reaching it, both eras, and the rules of HTTP.

mod endpoint;
mod fault;
mod headers;
mod nearby;
mod origin;
mod session;
mod site;

pub(crate) use site::examine;
