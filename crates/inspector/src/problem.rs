//! Problems as the page shows them, with who caused them.

use std::error::Error;

use serde::Serialize;
use turnbuckle::{CallError, ConnectError};
use turnbuckle_base::error_chain;
use turnbuckle_command_line::failure::in_plain_words;

use super::raw::Raw;

/// Who caused a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Who {
    Transport,
    Protocol,
    Authorization,
    Validation,
}

/// A failure as the page shows it: what happened, why, and what to do next.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Problem {
    pub(super) who: Who,
    pub(super) code: Option<i64>,
    pub(super) message: String,
    /// The `data` of a JSON-RPC error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Raw>,
    pub(super) causes: Vec<String>,
    pub(super) hint: Option<String>,
}

impl Problem {
    pub(super) fn new(who: Who, message: impl Into<String>) -> Self {
        Self {
            who,
            code: None,
            message: message.into(),
            data: None,
            causes: Vec::new(),
            hint: None,
        }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the code that the server sent, which the client may have converted.
    pub(super) fn with_code(mut self, came: Option<i64>) -> Self {
        self.code = self.code.map(|code| came.unwrap_or(code));
        self
    }

    /// Makes a problem of an error and its causes.
    pub(super) fn of(who: Who, error: &(dyn Error + 'static)) -> Self {
        let mut problem = Self::new(who, error.to_string());
        let causes = error_chain::causes(error).map(ToString::to_string);
        // Some errors repeat their cause in their own message.
        problem.causes = causes
            .filter(|text| !problem.message.contains(text))
            .collect();
        problem
    }
}

impl From<&ConnectError> for Problem {
    fn from(error: &ConnectError) -> Self {
        let (who, hint) = match error {
            ConnectError::Unauthorized { .. } | ConnectError::Authorization { .. } => (
                Who::Authorization,
                Some("sign in to the server, or give it a header with `--header`"),
            ),
            ConnectError::Unsupported { .. } | ConnectError::Refused { .. } => {
                (Who::Protocol, None)
            }
            ConnectError::TimedOut { .. } => (
                Who::Transport,
                Some("is it an MCP server? run `turnbuckle doctor` to find the cause"),
            ),
            ConnectError::Spawn { .. } => (
                Who::Transport,
                Some("check the program's name, the PATH and the folder"),
            ),
            _ => (Who::Transport, None),
        };
        let problem = Self::of(who, error);
        match hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

impl From<&CallError> for Problem {
    fn from(error: &CallError) -> Self {
        match error {
            CallError::Rejected { error, .. } => Self {
                code: Some(error.code),
                data: error.data.as_ref().map(Raw::of),
                ..Self::new(Who::Protocol, error.message.clone())
            },
            CallError::Unauthorized { .. } | CallError::Authorization { .. } => {
                Self::of(Who::Authorization, error)
            }
            CallError::Unwritable { .. } => Self::of(Who::Validation, error),
            CallError::Malformed { .. }
            | CallError::Oversized { .. }
            | CallError::TooManyNodes { .. } => {
                let words = in_plain_words(error).unwrap_or_else(|| error.to_string());
                Self::new(Who::Protocol, words)
            }
            CallError::Closed { .. } | CallError::Unsent { .. } | CallError::Lost { .. } => {
                Self::of(Who::Transport, error).hint("connect again")
            }
            CallError::Deadline { .. } => {
                Self::of(Who::Transport, error).hint("`--timeout 120` waits longer")
            }
            _ => Self::of(Who::Protocol, error),
        }
    }
}
