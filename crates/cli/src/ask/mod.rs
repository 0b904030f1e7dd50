//! Questions of servers in the middle of a call: answered at the terminal, or in advance on the command
//! line.

mod answerer;
mod editor;
mod field;
mod form;
mod line;
mod message;
mod options;
mod prepared;
mod sample;
mod url;

pub(crate) use answerer::Answerer;
pub(crate) use form::ask_each;
pub(crate) use line::{Line, read as read_line};
pub(crate) use options::AskOptions;
pub(crate) use url::{ask as ask_visit, ask_done as ask_visit_done, root};
