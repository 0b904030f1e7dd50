//! What servers ask in the middle of a call: answered at the terminal, or ahead on the command
//! line.

mod desk;
mod field;
mod form;
mod line;
mod options;
mod prepared;
mod sample;
mod url;

pub(crate) use desk::Desk;
pub(crate) use options::AskOptions;
