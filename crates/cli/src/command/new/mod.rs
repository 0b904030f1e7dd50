//! `turnbuckle new`: creates a server project, with a test.

mod create;
mod name;
mod project;

pub(crate) use create::{New, run};
