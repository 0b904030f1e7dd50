//! The facts of the specification: a table generated from its schemas, and schemas generated from the
//! table.
//!
//! `scripts/facts` writes the table and explains its columns. Nothing in this folder uses the crate, so
//! that tests of other crates can include it.

mod definitions;
mod kind;
mod table;

pub(crate) use definitions::Schema;
pub(crate) use kind::Kind;
pub(crate) use table::{Fact, Table};
