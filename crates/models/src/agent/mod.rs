//! The loop of an agent: it sends messages to a model, calls the tools that the model chooses, and
//! sends their results, until the model has finished.
//!
//! Use [`Agent`], or write your own loop with [`Model`](crate::Model) and [`Tools`].

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
