//! The answer of a model.

use serde::Serialize;
use turnbuckle_protocol::{
    CreateMessageRequestParams, CreateMessageResult, SamplingContent, StopReason, ToolUseContent,
};

/// The answer of a model, and the number of tokens used.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The text and the tool calls in the form of the protocol. Tools have the host's names for them.
    pub result: CreateMessageResult,
    /// The numbers of tokens according to the API.
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

    /// The tokens to charge against limits: those that the API counted, and estimates for those
    /// that it did not count. Some servers report no counts, and limits must be effective there
    /// too.
    pub fn charged_usage(&self, params: &CreateMessageRequestParams) -> Usage {
        let counted_or = |counted: u64, estimate: &dyn Fn() -> u64| match counted {
            0 => estimate(),
            counted => counted,
        };
        Usage {
            input_tokens: counted_or(self.usage.input_tokens, &|| estimated_tokens(params)),
            output_tokens: counted_or(self.usage.output_tokens, &|| {
                estimated_tokens(&self.result.content)
            }),
        }
    }

    /// The tool calls in the answer.
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

/// About 4 bytes of JSON per token, as tokenizers need for English text.
const BYTES_PER_TOKEN: usize = 4;

fn estimated_tokens(value: &impl Serialize) -> u64 {
    let bytes = serde_json::to_vec(value).map_or(0, |json| json.len());
    u64::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u64::MAX)
}

/// Numbers of tokens as the API counted them, or zero if it reported none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The input tokens.
    pub input_tokens: u64,
    /// The output tokens.
    pub output_tokens: u64,
}

impl Usage {
    /// Makes a usage of this many input and output tokens.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
        }
    }

    /// The sum of input and output tokens.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The sum of two usages.
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

/// Why an answer of an API cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// A member is missing, or has a type other than in the API's reference.
    #[error("the answer has no {what} at `{at}`")]
    Shape {
        /// The expected type.
        what: &'static str,
        /// The position as a JSON pointer.
        at: String,
    },
    /// The answer is not JSON. Often it is a web page, because the URL is not that of an API.
    #[error("the answer is not JSON; it {}", begins(beginning))]
    NotJson {
        /// The beginning of the answer; empty if the answer is empty.
        beginning: String,
    },
    /// The model refused to answer, or a filter stopped it.
    #[error("the model gave no answer: {reason}")]
    Refused {
        /// The reason, in the words of the API.
        reason: String,
    },
}

fn begins(beginning: &str) -> String {
    match beginning {
        "" => "is empty".to_owned(),
        text => format!("begins with `{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::SamplingMessage;

    use super::*;

    #[test]
    fn what_an_api_does_not_count_is_estimated() {
        let prompt = vec![SamplingMessage::user("x".repeat(4000))];
        let params = CreateMessageRequestParams::new(prompt, 100);
        let text = vec![SamplingContent::text("y".repeat(400))];
        let answer = |usage| Answer::new("m", text.clone(), StopReason::EndTurn, usage);
        let counted = answer(Usage::new(7, 3)).charged_usage(&params);
        assert_eq!(counted, Usage::new(7, 3));
        let estimated = answer(Usage::default()).charged_usage(&params);
        assert!(
            (1000..1100).contains(&estimated.input_tokens),
            "{estimated:?}"
        );
        assert!(
            (100..120).contains(&estimated.output_tokens),
            "{estimated:?}"
        );
    }
}
