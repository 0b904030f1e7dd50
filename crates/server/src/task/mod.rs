//! Tasks: calls that go on after they were answered.
//!
//! A tool that may run as a task is the same function as one that may not. Where the client can
//! wait, the call is answered with the task's id at once; the work goes on here, and its questions,
//! its words on how far it is and its result are kept in a [store](turnbuckle_store::task::Tasks)
//! for the client to come and look. Where the client knows nothing of tasks, the call runs as any
//! other.
//!
//! A call becomes a task in `launch`; `work` runs it; `workshop` is the place of all that run, and
//! `room` the door to it. What each revision sees of a task is in `wire`.

mod ask_client;
mod background;
mod board;
mod deliver;
mod ending;
mod launch;
mod news;
mod room;
mod settings;
mod wire;
mod work;
mod workshop;

pub(crate) use ask_client::request;
pub use background::Background;
pub(crate) use board::Board;
pub(crate) use deliver::{result, unknown};
pub(crate) use launch::{Wish, declares_tasks, undeclared};
pub(crate) use news::{TaskNews, listened, tell_until};
pub(crate) use room::{Answering, Entrance, Open, Room};
pub use settings::TaskSettings;
pub(crate) use wire::{detailed, legacy, legacy_page};
#[cfg(feature = "http")]
pub(crate) use workshop::Anybody;
pub(crate) use workshop::{Workshop, capability, is_identified};
