//! Arguments as people type them: `key=value`, converted to the type in the schema.
//!
//! | word | means |
//! |---|---|
//! | `name=Ada` | a value of the type that the schema has for `name` |
//! | `age:=3` | JSON, unchanged |
//! | `text=@file`, `shape:=@file` | the content of a file, as text or as JSON |
//! | `address.city=Oslo` | a value inside an object |
//! | `tags+=new`, `sizes+:=3` | one more in a list |
//! | `-` | a JSON object from stdin; the other words change it |
//!
//! Numbers are sent with the digits that were typed. Giving the same argument twice is an error.

mod kind;
mod place;
mod tree;
mod unknown;
mod word;

pub use tree::Tree;
pub use unknown::{Unknown, unknown};
pub use word::read;
