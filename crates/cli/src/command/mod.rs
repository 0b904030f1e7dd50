//! One file for each command.

pub(crate) mod call;
mod caller_tokens;
pub(crate) mod chat;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod get;
mod handoff;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod pack;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod replay;
mod request;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod tasks;
pub(crate) mod test;
pub(crate) mod up;
pub(crate) mod watch;
