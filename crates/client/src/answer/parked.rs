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

/// How many calls of one session may wait for answers. Each holds a request open on the server; when
/// there are more, the one that has waited for the longest is given up.
const MAX_PARKED: usize = 64;

/// The calls of a session that wait.
#[derive(Default)]
pub(super) struct ParkedCalls {
    /// Tells this session's calls from those of others, of other processes too.
    name: Option<u64>,
    count: u64,
    calls: Vec<(String, ParkedCall)>,
    /// Those that were given up and have still to say so.
    leaving: Vec<AbortHandle>,
}

/// A call of a session that is under way. Dropping it gives it up.
pub(crate) struct ParkedCall {
    pub(crate) all: Arc<ManualCalls>,
    pub(crate) call: Arc<ManualCall>,
    pub(crate) outcome: oneshot::Receiver<Result<Box<RawValue>, CallError>>,
    pub(crate) progress: mpsc::Receiver<ProgressNotificationParams>,
    pub(crate) task: AbortHandle,
}

impl ParkedCalls {
    /// Parks a call. Returns its ticket, and the call that was evicted for it.
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

    /// Takes the call of a ticket out.
    pub(super) fn fetch(&mut self, ticket: &str) -> Option<ParkedCall> {
        let at = self.calls.iter().position(|(other, _)| other == ticket)?;
        Some(self.calls.remove(at).1)
    }

    /// The call of a ticket, which stays here.
    pub(super) fn look_up(&self, ticket: &str) -> Option<Arc<ManualCall>> {
        let parked = self.calls.iter().find(|(other, _)| other == ticket)?;
        Some(parked.1.call.clone())
    }

    /// Takes all of them out.
    pub(super) fn take(&mut self) -> Vec<(String, ParkedCall)> {
        std::mem::take(&mut self.calls)
    }

    /// Whether a call that was given up has still to say so.
    pub(super) fn is_anyone_leaving(&mut self) -> bool {
        self.leaving.retain(|task| !task.is_finished());
        !self.leaving.is_empty()
    }

    /// A call was given up, and its task has still to say so.
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
