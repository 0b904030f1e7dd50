//! The types of this crate, read from its source and compared with the table of facts.

mod agree;
mod definition;
mod fit;
mod growth;
mod source;

use definition::definitions;
use source::{Form, Ours, Rust};
