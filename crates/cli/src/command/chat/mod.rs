//! `turnbuckle chat`: a conversation with a model that can use the tools of servers.

mod allow;
mod command;
mod events;
mod excerpts;
mod history;
mod key;
mod model;
mod person;
mod prompt;
mod review;
mod screen;
mod servers;
mod session;
mod slash;
mod unready;
mod words;

pub(crate) use command::{Chat, run};
