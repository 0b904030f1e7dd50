//! Events of an agent's run.

use std::time::Duration;

use turnbuckle_protocol::{CallToolResult, ProgressNotificationParams, StopReason, ToolUseContent};

use crate::format::{Answer, Rewrite};
use crate::model::Delta;

/// An event of an agent's run, for a user interface or a log. [`Agent::run`](super::Agent::run)
/// reports it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The model's API does not support a part of a tool, so that part was rewritten. It is
    /// reported once for each run, before the first round.
    Rewritten(&'a Rewrite),
    /// The model is asked for its next answer.
    Asked {
        /// The number of the round in this run, counted from 1.
        round: usize,
    },
    /// A part of the model's answer, reported as soon as it arrives. Show it immediately.
    Delta(Delta<'a>),
    /// The model's whole answer, with its tool calls and the number of tokens used.
    Answered(&'a Answer),
    /// A tool is being called. The policy or the user may still deny the call.
    Calling(&'a ToolUseContent),
    /// A call reports progress.
    Progress {
        /// The id of the call.
        id: &'a str,
        /// The server's message.
        progress: &'a ProgressNotificationParams,
    },
    /// A call has ended.
    Called {
        /// The call.
        call: &'a ToolUseContent,
        /// The result. An error of any kind is a result with `is_error`.
        result: &'a CallToolResult,
        /// How long it took.
        elapsed: Duration,
    },
}

/// How a run ended without an error. The conversation can be continued in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentOutcome {
    /// The model has finished, for this reason.
    Done(StopReason),
    /// The model wants to call more tools, but the run has reached its limit of rounds.
    RoundLimit {
        /// The limit of rounds of one run.
        limit: usize,
    },
    /// The run has used up its tokens. The results of the last calls are in the conversation.
    TokenLimit {
        /// The limit of tokens of one run.
        limit: u64,
    },
    /// The run was stopped with a [`Stop`](super::Stop).
    Stopped,
}
