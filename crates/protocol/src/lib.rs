//! The words of the Model Context Protocol: the JSON-RPC envelope, every type of all five
//! revisions, and what differs between them.
//!
//! This crate knows no sockets, no clocks and no async runtime. Types carry the union of all
//! revisions, shaped like the newest; [`revision`] lowers a value to what an older peer knows.

pub mod envelope;
pub mod revision;

pub use envelope::{Id, IdRef};
pub use revision::{Revision, UnknownRevision};
