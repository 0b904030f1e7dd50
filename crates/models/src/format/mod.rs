//! Conversations with tools in the formats of model APIs.
//!
//! [`Format::tools`] writes a list of tools in the format of an API, [`Format::request`] writes a
//! whole request, and [`Format::answer`] reads the answer. They perform no I/O.

mod answer;
mod anthropic;
mod content;
mod gemini;
mod media;
mod openai_chat;
mod openai_responses;
mod tool_list;
mod write;

pub use answer::{Answer, AnswerError, Usage};
pub use content::attachment;
pub use tool_list::{Rewrite, ToolList};
pub use write::{EncodedRequest, Format};

pub(crate) use anthropic::stop_reason as anthropic_stop_reason;
pub(crate) use openai_chat::{
    stop_reason as openai_stop_reason, written_arguments as openai_arguments,
};
pub(crate) use tool_list::{is_unreadable, unreadable_arguments};
