//! Events of an agent's run.

use std::time::Duration;

use turnbuckle_protocol::{CallToolResult, ProgressNotificationParams, StopReason, ToolUseContent};

use crate::format::{Answer, Rewrite};
use crate::model::Delta;

/// Something that happened in an agent's run, for a user interface or a log.
/// [`Agent::run`](super::Agent::run) reports it.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The model's API does not take a part of a tool, which is written in another way. Once for
    /// each run, before the first round.
    Rewritten(&'a Rewrite),
    /// The model is asked, in this round.
    Asked {
        /// How often in this run, counted from 1.
        round: usize,
    },
    /// A part of the model's answer, as it is written. Show it at once.
    Delta(Delta<'a>),
    /// The model's whole answer, with its calls and the tokens that were used.
    Answered(&'a Answer),
    /// A tool is called. It may still be denied by the policy or the user.
    Calling(&'a ToolUseContent),
    /// A call reports progress.
    Progress {
        /// The id of the call.
        id: &'a str,
        /// The server's message.
        progress: &'a ProgressNotificationParams,
    },
    /// A call is done.
    Called {
        /// The call.
        call: &'a ToolUseContent,
        /// The result. An error of any kind is a result with `is_error`.
        result: &'a CallToolResult,
        /// How long it took.
        elapsed: Duration,
    },
}

/// How a run ended, without an error. The conversation can be continued in every case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentOutcome {
    /// The model is done, for this reason.
    Done(StopReason),
    /// The model still wants to call tools, but was asked as often as one run allows.
    RoundLimit {
        /// The most rounds of one run.
        limit: usize,
    },
    /// The run has used up its tokens. The results of the last calls are in the conversation.
    TokenLimit {
        /// The most tokens of one run.
        limit: u64,
    },
    /// The run was stopped with a [`Stop`](super::Stop).
    Stopped,
}
