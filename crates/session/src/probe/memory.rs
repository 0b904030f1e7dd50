//! What a search remembers: the connection at hand, what may be done only once, and the trail.

use turnbuckle_protocol::Revision;

use super::{Asked, Attempt, Outcome, Step};

/// A thing that may be done once. Every way back in the machine spends one of these, which is why
/// a search always ends.
#[derive(Debug, Default)]
pub(super) enum Once {
    #[default]
    Left,
    Spent,
}

impl Once {
    /// Spends it; `false` if that was done before.
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
    /// Start the server again.
    pub(super) reopen: Once,
    /// Open a second connection beside the first.
    pub(super) second: Once,
    /// Send `initialize` on a connection that was not probed.
    pub(super) clean_initialize: Once,
    /// Ask `server/discover` after `initialize` has failed.
    pub(super) look_again: Once,
    /// Ask `server/discover` at another version that the server has named.
    pub(super) other_discover: Once,
    /// Send `initialize` at another version that the server has named.
    pub(super) other_initialize: Once,
}

/// How far a question has come on the connection at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sent {
    #[default]
    No,
    Waiting,
    Answered,
}

/// The connection at hand.
#[derive(Debug, Default)]
pub(super) struct Here {
    pub(super) discover: Sent,
    pub(super) initialize: Sent,
}

/// Everything that was tried. The machine's [`Budget`] bounds its length.
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

    /// Writes down what came of the last step.
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

    /// The last refusal of `initialize`: where there is one, it says more about a failed search
    /// than what was tried after it.
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
