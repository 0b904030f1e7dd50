//! `#[derive(Form)]` and `#[derive(Choice)]`: what people are asked to fill in, from Rust types.
//!
//! What a form cannot say is found here if the tokens show it, and else by the compiler: each
//! limit is a call of a trait that only the right kind of field has.

mod choice;
mod field;
mod field_options;
mod fields;
mod limits;
mod rename;
mod serde_options;

pub(crate) use choice::expand as expand_choice;
pub(crate) use fields::expand as expand_form;
