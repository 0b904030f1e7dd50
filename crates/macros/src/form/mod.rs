//! `#[derive(Form)]` and `#[derive(Choice)]`: forms for users to fill in, made from Rust types.
//!
//! Mistakes that the tokens show are reported here, and the compiler finds the rest: each limit is
//! a call of a trait that only fields of the right kind implement.

mod choice;
mod field;
mod field_options;
mod fields;
mod limits;
mod rename;
mod serde_options;

pub(crate) use choice::expand as expand_choice;
pub(crate) use fields::expand as expand_form;
