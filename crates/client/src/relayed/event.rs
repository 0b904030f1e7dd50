//! The events of a relayed call.

use serde_json::value::RawValue;

use super::RelayAsk;
use crate::error::CallError;

/// A message of a server about a relayed call. The last three variants end the call.
#[derive(Debug)]
#[non_exhaustive]
pub enum RelayEvent {
    /// The params of `notifications/progress`, as they came. The token in them is the id of the
    /// relayed request.
    Progress(Box<RawValue>),
    /// Another notification that belongs to the call, such as a log message: its method and its
    /// params, as they came.
    Notification(Box<str>, Option<Box<RawValue>>),
    /// The server asks something in the middle of the call.
    Ask(RelayAsk),
    /// The result, as it came. A modern server may ask by it (`input_required`).
    Result(Box<RawValue>),
    /// The error object, as it came.
    Error(Box<RawValue>),
    /// No answer will come, for this reason.
    Lost(CallError),
}

impl RelayEvent {
    /// How many bytes wait with it, about.
    pub(super) fn bytes(&self) -> usize {
        let length =
            |params: &Option<Box<RawValue>>| params.as_ref().map_or(0, |it| it.get().len());
        match self {
            Self::Progress(params) | Self::Result(params) | Self::Error(params) => {
                params.get().len()
            }
            Self::Notification(_, params) => length(params),
            Self::Ask(ask) => length(&ask.params),
            Self::Lost(_) => 0,
        }
    }
}
