//! What may be typed next: commands, options, servers, tools, argument names and values, for the
//! completion of shells.

mod argument;
mod candidate;
mod line;
mod offer;
mod option;
mod word;

pub(crate) use candidate::{Candidate, Suggestions, next};
