//! Models for hosts of the Model Context Protocol.
//!
//! - [`mod@format`]: tool lists, requests and answers in the formats of OpenAI, Anthropic and Gemini.
//! - [`Model`]: the interface of a model for hosts, with streaming adapters for [`OpenAi`] (and every
//!   server with its Chat Completions API) and [`Anthropic`], and [`Scripted`] for tests and demos;
//!   [`open`] opens a model by its name.
//! - [`ModelList`]: chooses a model by the hints and priorities of a server.
//! - [`sampling`]: answers to `sampling/createMessage`, within limits and reviewed by a user.
//! - [`agent`]: a loop that lets a model work with tools.

pub mod agent;
mod api;
mod choice;
mod error;
pub mod format;
mod model;
mod name;
mod named;
pub mod sampling;
mod schema;
mod scripted;

pub use api::{Anthropic, ApiKey, ApiSettings, OpenAi};
pub use choice::{ModelList, Ratings};
pub use error::ModelError;
pub use model::{Delta, Model};
pub use name::ToolNames;
pub use named::{NamedModel, open};
pub use scripted::Scripted;
