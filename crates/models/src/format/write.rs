//! Writes requests and reads answers in every format.

use serde_json::Value;
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

use super::{Answer, AnswerError, ToolList, anthropic, gemini, openai_chat, openai_responses};
use crate::schema::{ANTHROPIC, Dialect, GEMINI, OPENAI};

/// The format of a model API.
///
/// ```
/// use turnbuckle_models::format::Format;
/// use turnbuckle_protocol::Tool;
///
/// let tools = Format::OpenAiChat.tools(&[Tool::new("files/read", Default::default())]);
/// assert_eq!(tools.json()[0]["function"]["name"], "files_read");
/// assert_eq!(tools.rewrites()[0].what, "renamed to `files_read` for the model");
/// assert_eq!(tools.names().host_name("files_read"), "files/read");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// OpenAI's Chat Completions, which Ollama, llama.cpp, vLLM and many others support too.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

/// A request, and the parts that the API does not support.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EncodedRequest {
    /// The body of the request.
    pub body: Value,
    /// Descriptions of the parts that were left out, each as a sentence.
    pub left_out: Vec<String>,
}

impl Format {
    /// Writes a list of tools in this format.
    pub fn tools(self, tools: &[Tool]) -> ToolList {
        ToolList::new(self, tools)
    }

    /// Writes a request to a model, with tools that were already written. The tools in `params` are
    /// ignored.
    ///
    /// The members `model_preferences`, `include_context` and `task` are not sent to the API.
    pub fn request(
        self,
        model: &str,
        params: &CreateMessageRequestParams,
        tools: &ToolList,
    ) -> EncodedRequest {
        match self {
            Self::OpenAiChat => openai_chat::request(model, params, tools),
            Self::OpenAiResponses => openai_responses::request(model, params, tools),
            Self::Anthropic => anthropic::request(model, params, tools),
            Self::Gemini => gemini::request(params, tools),
        }
    }

    /// Reads a whole answer that was not streamed.
    ///
    /// # Errors
    /// [`AnswerError`] if the answer does not have the documented form, or the model refused.
    pub fn answer(self, body: &Value, tools: &ToolList) -> Result<Answer, AnswerError> {
        match self {
            Self::OpenAiChat => openai_chat::answer(body, tools),
            Self::OpenAiResponses => openai_responses::answer(body, tools),
            Self::Anthropic => anthropic::answer(body, tools),
            Self::Gemini => gemini::answer(body, tools),
        }
    }

    pub(super) fn dialect(self) -> &'static Dialect {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => &OPENAI,
            Self::Anthropic => &ANTHROPIC,
            Self::Gemini => &GEMINI,
        }
    }
}

/// Reads a required member of an answer.
pub(super) fn member<'v, T>(
    value: &'v Value,
    pointer: &str,
    what: &'static str,
    read: impl FnOnce(&'v Value) -> Option<T>,
) -> Result<T, AnswerError> {
    let found = value.pointer(pointer).and_then(read);
    found.ok_or_else(|| AnswerError::Shape {
        what,
        at: pointer.to_owned(),
    })
}

/// Reads a count of tokens, or zero if it is missing.
pub(super) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}
