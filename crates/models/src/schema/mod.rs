//! Rewrites JSON Schemas for the API of a model.

mod dialect;
mod merge;
mod narrow;
mod openapi;
mod reference;
mod undo;
mod well_formed;

pub(crate) use dialect::{ANTHROPIC, Dialect, GEMINI, OPENAI};
pub(crate) use narrow::narrow;
pub(crate) use undo::Undo;
