//! `turnbuckle test`: saved calls, and what is expected of them.

mod command;
mod expectation;
mod file;
mod junit;
mod verdict;

pub(crate) use command::{Test, run};
