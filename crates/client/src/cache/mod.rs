//! A cache of results that servers allow to be kept: lists, resources and `server/discover`.
//!
//! [`Cache`] is the handle that applications have, [`store`] is the bounded table behind it, and
//! [`hint`] reads a server's caching hint. [`ConnectionCache`] is the part of one connection; it knows
//! which callers may use a result. [`lookup`] is the interface for calls. All modules but the last take
//! the time as an argument.

mod connection;
mod handle;
mod hint;
mod lookup;
mod store;

pub(crate) use connection::ConnectionCache;
pub use handle::Cache;
pub(crate) use lookup::{Freshness, Lookup};
