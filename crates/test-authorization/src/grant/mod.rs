//! The grants, one file for each.

mod asking;
mod assertion;
mod client_credentials;
mod code;
mod exchange;
mod refresh;

pub(crate) use asking::{Asking, Given};
pub(super) use assertion::assertion;
pub(super) use client_credentials::client_credentials;
pub(super) use code::code;
pub(super) use exchange::exchange;
pub(super) use refresh::refresh;
