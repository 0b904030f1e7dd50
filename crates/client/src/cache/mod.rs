//! Results that servers say may be kept: lists, resources, what they can do.
//!
//! [`Cache`] is the handle that applications have, [`store`] the bounded table behind it, [`scope`] says
//! for whom an entry is, and [`hint`] what a server says about keeping a result. Time is an argument of
//! all but the handle.

mod handle;
mod hint;
mod scope;
mod store;
mod using;

pub use handle::Cache;
pub(crate) use scope::Scoped;
pub(crate) use using::{Freshness, Lookup};
