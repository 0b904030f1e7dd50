//! The events of a relayed call.

use serde_json::value::RawValue;

use super::RelayAsk;
use crate::error::CallError;

/// A message of a server about a relayed call. The last three variants end the call.
#[derive(Debug)]
#[non_exhaustive]
pub enum RelayEvent {
    /// The params of `notifications/progress`, unchanged. Their token is the id of the relayed request.
    Progress(Box<RawValue>),
    /// Another notification that belongs to the call, such as a log message: its method and its params,
    /// unchanged.
    Notification(Box<str>, Option<Box<RawValue>>),
    /// A request of the server during the call.
    Ask(RelayAsk),
    /// The result, unchanged. A modern server may ask for input in it (`input_required`).
    Result(Box<RawValue>),
    /// The error object, unchanged.
    Error(Box<RawValue>),
    /// No answer will come, for this reason.
    Lost(CallError),
}

impl RelayEvent {
    /// The approximate size of the event in bytes.
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
