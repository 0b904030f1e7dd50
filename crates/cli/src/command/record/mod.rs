//! `turnbuckle record`: records a session between any client and a server.

mod bridge;
mod child;
mod envelope;
mod run;
mod sheet;
mod stream;

pub(crate) use run::{Record, run};
