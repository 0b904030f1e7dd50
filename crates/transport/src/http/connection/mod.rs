//! One connection of a server.

mod closing;
mod deadline;
mod door;
mod drive;
mod http2;
mod preface;
mod pulse;
mod refuse;
mod requests;
mod wire;

pub(super) use closing::Closing;
pub(super) use door::Door;
