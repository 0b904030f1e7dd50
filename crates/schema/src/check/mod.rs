//! Checks a value against nodes. Deciding and reporting share every function, so that the two always agree.

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
