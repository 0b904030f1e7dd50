//! Waiting for several futures at once.

mod join;
mod race;

pub(crate) use join::join_all;
pub(crate) use race::{First, race};
