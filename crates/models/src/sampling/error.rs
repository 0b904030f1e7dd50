//! Why a sampling request is refused.

use std::time::Duration;

use turnbuckle_protocol::error::code;

use crate::error::ModelError;

/// Why a server's sampling request got no answer. [`code`](Self::code) and
/// [`message`](Self::message) are the error for the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// The user declined to send the request to the model, or the answer to the server.
    #[error("user rejected sampling request")]
    Declined,
    /// The messages break a rule of the protocol.
    #[error("invalid messages: {reason}")]
    Invalid {
        /// The rule, and the position of the violation.
        reason: String,
    },
    /// The server sends too many requests.
    #[error("more than {limit} sampling requests in a minute; try again in {} s", wait.as_secs() + 1)]
    TooOften {
        /// The most requests of one server per minute.
        limit: u32,
        /// How long to wait until the next request is accepted.
        wait: Duration,
    },
    /// The server has used up its tokens.
    #[error("the budget of {limit} tokens for sampling is used up")]
    OverBudget {
        /// The most tokens of one server.
        limit: u64,
    },
    /// The conversation has too many rounds of tool calls.
    #[error("more than {limit} rounds of tool calls in one sampling conversation")]
    TooManyRounds {
        /// The most rounds.
        limit: usize,
    },
    /// The model gave no answer.
    #[error("the model gave no answer")]
    Model(#[from] ModelError),
}

impl SamplingError {
    /// The JSON-RPC error code for the server.
    pub fn code(&self) -> i64 {
        match self {
            // sampling: a rejection by the user is -1, and an error in tool results is -32602.
            Self::Declined => code::USER_REJECTED,
            Self::Invalid { .. } => code::INVALID_PARAMS,
            Self::TooOften { .. } | Self::OverBudget { .. } => code::TOO_MANY_REQUESTS,
            Self::TooManyRounds { .. } | Self::Model(_) => code::INTERNAL_ERROR,
        }
    }

    /// The message for the server. It does not contain the text of the model's API, which may
    /// contain account names.
    pub fn message(&self) -> String {
        self.to_string()
    }
}
