//! One connection of a server.

mod acceptor;
mod closing;
mod deadline;
mod drive;
mod http2;
mod preface;
mod refuse;
mod requests;
mod state;
mod wire;

pub(super) use acceptor::Acceptor;
pub(super) use closing::Closing;
