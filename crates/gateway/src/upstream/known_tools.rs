//! Remembers which tools and prompts of a server ask questions.

use std::collections::{HashMap, hash_map::Entry};

use tokio::sync::Notify;
use turnbuckle_base::lock::Mutex;

/// How many tools and prompts are remembered. Real servers have fewer.
const MAX_KNOWN: usize = 10_000;

/// Whether a tool or prompt asks questions during its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AskingHabit {
    /// The tool was not called yet, or no call has finished.
    Unknown,
    /// The tool has answered without asking.
    Quiet,
    /// The tool was in flight when a question arrived that could not be assigned to a call.
    Suspected,
    /// The tool has asked, and waited for the answer before it asked again.
    Asks,
    /// The tool has asked again before it was answered.
    AsksSeveral,
}

impl AskingHabit {
    /// Whether the tool has asked before.
    pub(super) fn asks(self) -> bool {
        matches!(self, Self::Asks | Self::AsksSeveral)
    }

    /// Whether its calls take turns with the calls of all other tools that may ask.
    pub(super) fn takes_turns(self) -> bool {
        self.asks() || self == Self::Suspected
    }
}

/// What is known about the tools and prompts of one server, in all of its sessions.
#[derive(Default)]
pub(super) struct KnownTools {
    habits: Mutex<HashMap<String, AskingHabit>>,
    /// Notifies calls that wait for their turn.
    pub(super) learned: Notify,
}

impl KnownTools {
    pub(super) fn habit(&self, subject: &str) -> AskingHabit {
        let habits = self.habits.lock();
        match habits.get(subject) {
            Some(habit) => *habit,
            // Do not delay calls of a server with so many names. Its questions are still assigned
            // correctly.
            None if habits.len() >= MAX_KNOWN => AskingHabit::Quiet,
            None => AskingHabit::Unknown,
        }
    }

    /// Records that a call was answered without a question.
    pub(super) fn answered(&self, subject: &str) {
        self.learn(subject, AskingHabit::Quiet);
    }

    /// Records that the tool may have asked.
    pub(super) fn suspect(&self, subject: &str) {
        self.learn(subject, AskingHabit::Suspected);
    }

    /// Records that the tool has asked.
    pub(super) fn asked(&self, subject: &str) {
        self.learn(subject, AskingHabit::Asks);
    }

    /// Records that the tool has asked again before it got an answer.
    pub(super) fn asked_again(&self, subject: &str) {
        self.learn(subject, AskingHabit::AsksSeveral);
    }

    /// Updates what is known. A tool that has asked once may ask again, however often it does not.
    fn learn(&self, subject: &str, learned: AskingHabit) {
        let is_news = {
            let mut habits = self.habits.lock();
            let is_full = habits.len() >= MAX_KNOWN;
            match habits.entry(subject.to_owned()) {
                Entry::Occupied(mut known) if (*known.get() as u8) < learned as u8 => {
                    known.insert(learned);
                    true
                }
                Entry::Vacant(unknown) if !is_full => {
                    unknown.insert(learned);
                    true
                }
                _ => false,
            }
        };
        if is_news {
            self.learned.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_has_asked_is_not_taken_for_a_quiet_one() {
        let known = KnownTools::default();
        assert_eq!(known.habit("a"), AskingHabit::Unknown);
        known.answered("a");
        assert_eq!(known.habit("a"), AskingHabit::Quiet);
        known.suspect("a");
        assert!(known.habit("a").takes_turns() && !known.habit("a").asks());
        known.asked("a");
        known.suspect("a");
        known.answered("a");
        assert_eq!(known.habit("a"), AskingHabit::Asks);
        known.asked_again("a");
        known.asked("a");
        assert_eq!(known.habit("a"), AskingHabit::AsksSeveral);
    }
}
