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
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::ProgressNotificationParams;

use super::desk::Seat;
use crate::{CallError, link::Link};

/// How many calls of one session may wait for answers. Each holds a request open on the server; when
/// there are more, the one that has waited for the longest is given up.
const MAX_PARKED: usize = 64;

/// The calls of a session that wait.
#[derive(Default)]
pub(crate) struct Parking {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Tells this session's calls from those of others, of other processes too.
    name: Option<u64>,
    count: u64,
    calls: Vec<(String, Parked)>,
    /// Those that were given up and have still to say so.
    leaving: Vec<AbortHandle>,
}

/// A call of a session that is under way. Dropping it gives it up.
pub(crate) struct Parked {
    pub(crate) link: Arc<Link>,
    pub(crate) seat: Arc<Seat>,
    pub(crate) outcome: oneshot::Receiver<Result<Box<RawValue>, CallError>>,
    pub(crate) progress: mpsc::Receiver<ProgressNotificationParams>,
    pub(crate) task: AbortHandle,
}

impl Parking {
    /// Parks a call, and gives the ticket for it.
    pub(crate) fn park(&self, call: Parked) -> String {
        let mut state = self.state.lock();
        state.count += 1;
        let count = state.count;
        let name = *state
            .name
            .get_or_insert_with(|| RandomState::new().hash_one(std::process::id()));
        let ticket = format!("{name:016x}-{count}");
        state.calls.push((ticket.clone(), call));
        let oldest = (state.calls.len() > MAX_PARKED).then(|| state.calls.remove(0));
        drop(state);
        // Giving it up says so to the server: not under the lock.
        drop(oldest);
        ticket
    }

    /// Takes the call of a ticket out.
    pub(crate) fn fetch(&self, ticket: &str) -> Option<Parked> {
        let mut state = self.state.lock();
        let at = state.calls.iter().position(|(other, _)| other == ticket)?;
        Some(state.calls.remove(at).1)
    }

    /// Gives up all of them: the connection is over.
    pub(crate) fn clear(&self) {
        let calls = std::mem::take(&mut self.state.lock().calls);
        drop(calls);
    }

    /// Whether a call that was given up has still to say so.
    pub(crate) fn is_anyone_leaving(&self) -> bool {
        let mut state = self.state.lock();
        state.leaving.retain(|task| !task.is_finished());
        !state.leaving.is_empty()
    }

    fn leave(&self, task: &AbortHandle) {
        let mut state = self.state.lock();
        state.leaving.retain(|task| !task.is_finished());
        state.leaving.push(task.clone());
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.link.desk.leave(&self.seat);
        self.task.abort();
        self.link.parking.leave(&self.task);
    }
}
