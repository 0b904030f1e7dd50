//! `turnbuckle replay`: a recording as a server, or against one.

mod against;
mod run;
mod serve;

pub(crate) use run::{Replay, run};
