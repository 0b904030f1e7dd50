//! Checks for tools that clients or model providers reject, without calling the tools.

mod defaults;
mod header;
mod name;
mod recursion;
mod root;
mod subschema;
mod tool;
mod words;

pub(crate) use tool::look;
