//! The tables of all checks. The findings of a run, the SARIF rules and the page of all checks are
//! made from these tables.

mod all;
pub(crate) mod auth;
pub(crate) mod cache;
pub(crate) mod call;
pub(crate) mod cancel;
pub(crate) mod connect;
pub(crate) mod discover;
pub(crate) mod handshake;
pub(crate) mod headers;
pub(crate) mod http;
pub(crate) mod lists;
pub(crate) mod methods;
pub(crate) mod origin;
pub(crate) mod schema;
pub(crate) mod session;
pub(crate) mod start;
pub(crate) mod stdout;
pub(crate) mod time;
pub(crate) mod tls;

pub(crate) use all::all;
