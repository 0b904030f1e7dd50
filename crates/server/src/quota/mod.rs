//! Quotas: limits on shared amounts, for one caller and in total.

mod caller_key;
mod cells;
mod share;

#[cfg(feature = "http")]
pub(crate) use caller_key::CallerAddress;
pub(crate) use caller_key::{CallerKey, CountedCaller};
pub(crate) use cells::CallerCells;
pub(crate) use share::{Over, Quota, Share};
