//! The answer of a model.

use turnbuckle_protocol::{CreateMessageResult, SamplingContent, StopReason, ToolUseContent};

/// The answer of a model, and the tokens that it cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The text and the tool calls, as the protocol writes them. The names of tools are those of the
    /// host again.
    pub result: CreateMessageResult,
    /// The tokens that the API counted.
    pub usage: Usage,
}

impl Answer {
    pub(crate) fn new(
        model: &str,
        content: Vec<SamplingContent>,
        stop: StopReason,
        usage: Usage,
    ) -> Self {
        let mut result = CreateMessageResult::new(model, "").with_stop_reason(stop);
        result.content = content;
        Self { result, usage }
    }

    /// The tool calls in it.
    pub fn calls(&self) -> impl Iterator<Item = &ToolUseContent> {
        self.result
            .content
            .iter()
            .filter_map(|content| match content {
                SamplingContent::ToolUse(call) => Some(call),
                _ => None,
            })
    }
}

/// Tokens, as the API counted them. Zero where it did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The input tokens.
    pub input_tokens: u64,
    /// The output tokens.
    pub output_tokens: u64,
}

impl Usage {
    /// So many tokens read and written.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
        }
    }

    /// Both together.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

/// Why an answer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// A member is missing or has another type than the API's reference says.
    #[error("the answer has no {what} at `{at}`")]
    Shape {
        /// The type that was expected.
        what: &'static str,
        /// Where, as a JSON pointer.
        at: String,
    },
    /// The model refused to answer, or a filter stopped it.
    #[error("the model gave no answer: {reason}")]
    Refused {
        /// The reason, in the API's words.
        reason: String,
    },
}
