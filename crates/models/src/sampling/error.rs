//! Why a sampling request is refused.

use std::time::Duration;

use turnbuckle_protocol::error::code;

use crate::error::ModelError;

/// Why a server's sampling request has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SamplingError {
    /// The user did not let the request go to the model, or the answer to the server.
    #[error("user rejected sampling request")]
    Declined,
    /// The messages break a rule of the protocol.
    #[error("invalid messages: {reason}")]
    Invalid {
        /// Which rule, and where.
        reason: String,
    },
    /// The server asks too often.
    #[error("more than {limit} sampling requests in a minute; try again in {} s", wait.as_secs() + 1)]
    TooOften {
        /// The most requests of one server in a minute.
        limit: u32,
        /// How long until the next may come.
        wait: Duration,
    },
    /// The server has used up its tokens.
    #[error("the budget of {limit} tokens for sampling is used up")]
    OverBudget {
        /// The most tokens of one server.
        limit: u64,
    },
    /// The conversation has called tools too often.
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
    /// The JSON-RPC code that the server is answered with.
    pub fn code(&self) -> i64 {
        match self {
            // sampling: a rejection by the user is -1, and a fault in tool results -32602.
            Self::Declined => code::USER_REJECTED,
            Self::Invalid { .. } => code::INVALID_PARAMS,
            Self::TooOften { .. } | Self::OverBudget { .. } => code::TOO_MANY_REQUESTS,
            Self::TooManyRounds { .. } | Self::Model(_) => code::INTERNAL_ERROR,
        }
    }

    /// The message for the server. It does not contain the text of the model's API, which may name
    /// accounts.
    pub fn message(&self) -> String {
        self.to_string()
    }
}
