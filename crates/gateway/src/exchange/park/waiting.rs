//! A request that waits for the outcome of a parked call.

use std::sync::Arc;

use turnbuckle_server::RelayReply;

use super::parked_call::ParkedCall;
use crate::{exchange::call::Context, translate::FrontRequest};

/// A request that waits for the outcome of a parked call. If the last such request ends without a
/// reply, the call is given up (G15).
pub(super) struct Waiting {
    parked: Arc<ParkedCall>,
    is_answered: bool,
}

impl Waiting {
    pub(super) fn new(parked: &Arc<ParkedCall>) -> Self {
        parked.state.lock().waiters += 1;
        Self {
            parked: Arc::clone(parked),
            is_answered: false,
        }
    }

    pub(super) async fn wait(self, context: &Context, request: &FrontRequest) -> RelayReply {
        let parked = Arc::clone(&self.parked);
        loop {
            // Register before checking, so that no change is missed.
            let changed = parked.changed.notified();
            let reply = {
                let state = self.parked.state.lock();
                match &state.outcome {
                    Some(outcome) => Some(outcome.clone()),
                    None if state.is_published() => {
                        Some(self.parked.input_required(context, request, &state))
                    }
                    None => None,
                }
            };
            if let Some(reply) = reply {
                return self.answered(reply);
            }
            changed.await;
        }
    }

    /// Marks the request as answered, so that dropping it does not give the call up.
    pub(super) fn answered(mut self, reply: RelayReply) -> RelayReply {
        self.is_answered = true;
        reply
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.parked.state.lock();
        state.waiters -= 1;
        if !self.is_answered && state.waiters == 0 && state.outcome.is_none() {
            // A cancelled retry cancels the call, even while its questions are open.
            drop(state);
            self.parked.give_up();
        }
    }
}
