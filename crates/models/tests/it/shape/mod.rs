//! Checks requests against the references of the APIs.

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;
mod schema;
mod value;

pub(crate) use anthropic::check as anthropic;
pub(crate) use gemini::check as gemini;
pub(crate) use openai_chat::check as openai_chat;
pub(crate) use openai_responses::check as openai_responses;
