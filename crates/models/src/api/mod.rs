//! Adapters for model APIs over HTTP.

mod anthropic;
mod anthropic_stream;
mod asking;
mod endpoint;
mod key;
mod openai;
mod openai_stream;
mod reader;
mod refusal;
mod written_tools;

pub use anthropic::Anthropic;
pub use endpoint::ApiSettings;
pub use key::ApiKey;
pub use openai::OpenAi;
