//! A cache of results that servers allow to be kept: lists, resources and `server/discover`.
//!
//! [`Cache`] is the handle that applications have, [`store`] the bounded table behind it, [`hint`]
//! what a server says about keeping a result. [`ConnectionCache`] is the part of one connection and
//! knows for whom its results are, and [`lookup`] is how a call uses it. Time is an argument of all
//! but the last.

mod connection;
mod handle;
mod hint;
mod lookup;
mod store;

pub(crate) use connection::ConnectionCache;
pub use handle::Cache;
pub(crate) use lookup::{Freshness, Lookup};
