//! The revisions of the specification, and the differences between them.
//!
#![doc = include_str!("../docs/lowering.md")]

mod date;
mod draft;
mod inexpressible;
mod lower;
mod raise;
mod rules;
mod table;
mod v2024_11_05;
mod v2025_03_26;
mod v2025_06_18;
mod v2025_11_25;
mod v2026_07_28;

pub use date::{Revision, UnknownRevision};
pub use inexpressible::Inexpressible;
pub use lower::Lower;
pub use raise::Raise;
pub use rules::{ArgumentErrors, Era, Rules};
