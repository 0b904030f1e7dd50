//! Quotas: limits on shared amounts, for one caller and in total.

mod caller_key;
mod cells;
mod share;

pub(crate) use caller_key::{CallerAddress, CallerKey, CountedCaller};
pub(crate) use cells::CallerCells;
pub(crate) use share::{Over, Quota, Share};
