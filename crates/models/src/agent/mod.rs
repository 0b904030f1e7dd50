//! A loop that lets a model work with tools: messages in, model, tool calls, results, until done.
//!
//! Use [`Agent`] as it is, or write a loop of your own from [`Model`](crate::Model) and [`Tools`].

mod event;
mod race;
mod result;
mod round;
mod run;
mod stop;
mod tools;

pub use event::{AgentOutcome, Event};
pub use run::Agent;
pub use stop::Stop;
pub use tools::{BoxError, ToolCall, Tools};
