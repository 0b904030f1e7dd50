//! What one caller may take of something that all share, and what all may take together.

mod caller_key;
mod cells;
mod share;

pub(crate) use caller_key::{CallerAddress, CallerKey, CountedCaller};
pub(crate) use cells::CallerCells;
pub(crate) use share::{Over, Quota, Share};
