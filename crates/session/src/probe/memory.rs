//! What a search remembers: the current connection, the actions that are allowed once, and the steps so
//! far.

use turnbuckle_protocol::Revision;

use super::{Asked, Attempt, Outcome, Step};

/// An action that is allowed once. Every step back in the state machine spends one of these, so a
/// search always ends.
#[derive(Debug, Default)]
pub(super) enum Once {
    #[default]
    Left,
    Spent,
}

impl Once {
    /// Spends it. Returns `false` if it was already spent.
    pub(super) fn spend(&mut self) -> bool {
        matches!(std::mem::replace(self, Self::Spent), Self::Left)
    }

    pub(super) const fn is_left(&self) -> bool {
        matches!(self, Self::Left)
    }
}

/// The actions that a probe may do only once.
#[derive(Debug, Default)]
pub(super) struct Budget {
    /// Restart the server.
    pub(super) reopen: Once,
    /// Open a second connection while the first is open.
    pub(super) second: Once,
    /// Send `initialize` on a connection without a probe.
    pub(super) clean_initialize: Once,
    /// Send `server/discover` after `initialize` has failed.
    pub(super) look_again: Once,
    /// Send `server/discover` at another version that the server has listed.
    pub(super) other_discover: Once,
    /// Send `initialize` at another version that the server has listed.
    pub(super) other_initialize: Once,
}

/// The state of a request on the current connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sent {
    #[default]
    No,
    Waiting,
    Answered,
}

/// The requests on the current connection.
#[derive(Debug, Default)]
pub(super) struct CurrentRequests {
    pub(super) discover: Sent,
    pub(super) initialize: Sent,
}

/// All steps so far. The [`Budget`] limits their number.
#[derive(Debug, Default)]
pub(super) struct Trail {
    attempts: Vec<Attempt>,
}

impl Trail {
    pub(super) fn ask(&mut self, asked: Asked, version: Revision) {
        self.attempts.push(Attempt {
            step: Step::Ask(asked, version),
            outcome: None,
        });
    }

    pub(super) fn reopen(&mut self) {
        self.note(Step::Reopen);
    }

    pub(super) fn open_second(&mut self) {
        self.note(Step::OpenSecond);
    }

    fn note(&mut self, step: Step) {
        self.attempts.push(Attempt {
            step,
            outcome: None,
        });
    }

    /// Records the outcome of the last step.
    pub(super) fn settle(&mut self, outcome: &Outcome) {
        if let Some(last) = self.attempts.last_mut() {
            last.outcome = Some(outcome.clone());
        }
    }

    pub(super) fn has_asked(&self, asked: Asked) -> bool {
        self.attempts
            .iter()
            .any(|attempt| matches!(attempt.step, Step::Ask(this, _) if this == asked))
    }

    /// Returns the last refusal of `initialize`, if any. It explains a failed search better than the
    /// steps after it.
    pub(super) fn last_refusal(&self) -> Option<Outcome> {
        self.attempts
            .iter()
            .rev()
            .find_map(|attempt| match (attempt.step, &attempt.outcome) {
                (Step::Ask(Asked::Initialize, _), Some(refused @ Outcome::Refused { .. })) => {
                    Some(refused.clone())
                }
                _ => None,
            })
    }

    pub(super) fn take(&mut self) -> Vec<Attempt> {
        std::mem::take(&mut self.attempts)
    }
}
