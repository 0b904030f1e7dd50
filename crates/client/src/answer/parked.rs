//! Calls of a session that wait for answers by hand.

use std::{
    hash::{BuildHasher, RandomState},
    sync::Arc,
};

use serde_json::value::RawValue;
use tokio::{
    sync::{mpsc, oneshot},
    task::AbortHandle,
};
use turnbuckle_protocol::ProgressNotificationParams;

use super::manual_calls::{ManualCall, ManualCalls};
use crate::error::CallError;

/// How many calls of one session may wait for answers. Each holds a request open on the server. When
/// the limit is reached, the call that has waited for the longest is given up.
const MAX_PARKED: usize = 64;

/// The calls of a session that wait for answers.
#[derive(Default)]
pub(super) struct ParkedCalls {
    /// A random number that distinguishes the tickets of this session from those of other sessions and
    /// processes.
    name: Option<u64>,
    count: u64,
    calls: Vec<(String, ParkedCall)>,
    /// Tasks of calls that were given up, which may still have to tell the server.
    leaving: Vec<AbortHandle>,
}

/// A running call of a session. Dropping it gives up the call.
pub(crate) struct ParkedCall {
    pub(crate) all: Arc<ManualCalls>,
    pub(crate) call: Arc<ManualCall>,
    pub(crate) outcome: oneshot::Receiver<Result<Box<RawValue>, CallError>>,
    pub(crate) progress: mpsc::Receiver<ProgressNotificationParams>,
    pub(crate) task: AbortHandle,
}

impl ParkedCalls {
    /// Parks a call. Returns its ticket, and the call that was evicted to make room for it.
    pub(super) fn park(&mut self, call: ParkedCall) -> (String, Option<(String, ParkedCall)>) {
        self.count += 1;
        let name = *self
            .name
            .get_or_insert_with(|| RandomState::new().hash_one(std::process::id()));
        let ticket = format!("{name:016x}-{}", self.count);
        self.calls.push((ticket.clone(), call));
        let oldest = (self.calls.len() > MAX_PARKED).then(|| self.calls.remove(0));
        (ticket, oldest)
    }

    /// Removes the call of a ticket and returns it.
    pub(super) fn fetch(&mut self, ticket: &str) -> Option<ParkedCall> {
        let at = self.calls.iter().position(|(other, _)| other == ticket)?;
        Some(self.calls.remove(at).1)
    }

    /// Returns the call of a ticket and leaves it parked.
    pub(super) fn look_up(&self, ticket: &str) -> Option<Arc<ManualCall>> {
        let parked = self.calls.iter().find(|(other, _)| other == ticket)?;
        Some(parked.1.call.clone())
    }

    /// Removes and returns all calls.
    pub(super) fn take(&mut self) -> Vec<(String, ParkedCall)> {
        std::mem::take(&mut self.calls)
    }

    /// Whether a call that was given up must still tell the server.
    pub(super) fn is_anyone_leaving(&mut self) -> bool {
        self.leaving.retain(|task| !task.is_finished());
        !self.leaving.is_empty()
    }

    /// Records that a call was given up and that its task must still tell the server.
    pub(super) fn leave(&mut self, task: &AbortHandle) {
        self.leaving.retain(|task| !task.is_finished());
        self.leaving.push(task.clone());
    }
}

impl Drop for ParkedCall {
    fn drop(&mut self) {
        self.all.end(&self.call, &self.task);
    }
}
