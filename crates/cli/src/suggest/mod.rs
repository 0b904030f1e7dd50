//! Suggestions for shell completion: commands, options, servers, tools, argument names and
//! values.

mod argument;
mod candidate;
mod line;
mod offer;
mod option;
mod word;

pub(crate) use candidate::{Candidate, Suggestions, next};
