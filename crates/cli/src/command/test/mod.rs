//! `turnbuckle test`: makes saved calls, and checks their results.

mod command;
mod expectation;
mod file;
mod junit;
mod verdict;

pub(crate) use command::{Test, run};
