//! The five revisions of the specification, and what differs between them.
//!
//! [`Revision`] names them. The files beside this one say, for each older revision, what a value of
//! the next newer one loses when it is lowered to it.

mod date;

pub use date::{Revision, UnknownRevision};
