//! Checks a value against nodes. The quick verdict and the full report share every function, so
//! that the two can never disagree.

mod apply;
mod array;
mod closest;
mod describe;
mod in_place;
mod number;
mod object;
mod run;
mod text;
mod unevaluated;

pub(crate) use apply::check;
pub(crate) use run::{Collected, Place, Run, Verdict};
