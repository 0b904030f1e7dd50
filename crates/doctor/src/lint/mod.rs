//! Tools that clients or model providers refuse, found without calling them.

mod defaults;
mod header;
mod name;
mod recursion;
mod root;
mod subschema;
mod tool;
mod words;

pub(crate) use tool::look;
