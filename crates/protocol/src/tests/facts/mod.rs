//! The specification's facts, in every clone: a table made from its schemas, and the schemas made
//! from the table.
//!
//! `scripts/facts` makes the table and explains its columns. Nothing in this folder uses the crate,
//! so that tests of other crates can include it.

mod definitions;
mod kind;
mod table;

pub(crate) use definitions::Schema;
pub(crate) use kind::Kind;
pub(crate) use table::{Fact, Table};
