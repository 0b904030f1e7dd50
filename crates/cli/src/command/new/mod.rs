//! `turnbuckle new`: a project with a server that builds and passes its test.

mod create;
mod name;
mod project;

pub(crate) use create::{New, run};
