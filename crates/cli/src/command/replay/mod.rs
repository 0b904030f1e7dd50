//! `turnbuckle replay`: replays a recording as a server, or against a server.

mod against;
mod run;
mod serve;

pub(crate) use run::{Replay, run};
