//! The load generator: a closed loop of the same call, over HTTP or stdio, that checks the answers.

pub(crate) mod call;
pub(crate) mod http;
pub(crate) mod stdio;
pub(crate) mod tally;

pub(crate) use call::{Call, Era, Front, Operation};
pub(crate) use tally::{Measured, Until};
