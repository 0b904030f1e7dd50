//! The origin of questions and calls: the server's id, and the calls that it is working on.

use std::sync::atomic::{AtomicUsize, Ordering};

use turnbuckle_base::lock::Mutex;

use crate::id::{ConversationId, ServerId};

/// How many questions of one server may wait for the user at a time. A server with more open
/// questions is misbehaving, and would keep the questions of other servers from being shown.
const MAX_OPEN_QUESTIONS: usize = 8;

/// A server as the origin of questions and calls.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) id: ServerId,
    /// See [`ServerSpec::fingerprint`](super::ServerSpec).
    pub(crate) fingerprint: Option<String>,
    /// Tools that a trusted config file allows to be called without asking.
    pub(crate) approved_tools: Vec<String>,
    /// The name that the server gave itself at the last connection.
    calls_itself: Mutex<Option<String>>,
    in_flight: Mutex<Vec<(Option<ConversationId>, usize)>>,
    questions: AtomicUsize,
}

/// The call that a question of a server belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribution {
    /// No call to the server is in flight.
    NotCalled,
    /// All calls in flight belong to this conversation, or to none.
    One(Option<ConversationId>),
    /// Calls of several conversations are in flight, and the server does not say which one its
    /// question belongs to.
    Several,
}

impl Origin {
    pub(crate) fn new(
        id: ServerId,
        fingerprint: Option<String>,
        approved_tools: Vec<String>,
    ) -> Self {
        Self {
            id,
            fingerprint,
            approved_tools,
            calls_itself: Mutex::new(None),
            in_flight: Mutex::new(Vec::new()),
            questions: AtomicUsize::new(0),
        }
    }

    pub(crate) fn calls_itself(&self) -> Option<String> {
        self.calls_itself.lock().clone()
    }

    pub(super) fn introduce(&self, name: Option<String>) {
        *self.calls_itself.lock() = name;
    }

    /// Registers a call. It is in flight until the guard is dropped.
    pub(crate) fn enter(&self, conversation: Option<ConversationId>) -> InFlight<'_> {
        let mut calls = self.in_flight.lock();
        match calls.iter_mut().find(|(other, _)| *other == conversation) {
            Some((_, count)) => *count += 1,
            None => calls.push((conversation, 1)),
        }
        InFlight {
            origin: self,
            conversation,
        }
    }

    /// The conversation that a question arriving now belongs to.
    pub(crate) fn attribution(&self) -> Attribution {
        match self.in_flight.lock().as_slice() {
            [] => Attribution::NotCalled,
            [(conversation, _)] => Attribution::One(*conversation),
            _ => Attribution::Several,
        }
    }

    /// Reserves a place for a question; `None` if too many are waiting.
    pub(crate) fn open_question(&self) -> Option<OpenQuestion<'_>> {
        let entered = OpenQuestion(self);
        let before = self.questions.fetch_add(1, Ordering::AcqRel);
        (before < MAX_OPEN_QUESTIONS).then_some(entered)
    }
}

/// A call that is in flight to a server.
#[derive(Debug)]
pub(crate) struct InFlight<'a> {
    origin: &'a Origin,
    conversation: Option<ConversationId>,
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        let mut calls = self.origin.in_flight.lock();
        if let Some(index) = calls
            .iter()
            .position(|(other, _)| *other == self.conversation)
        {
            calls[index].1 -= 1;
            if calls[index].1 == 0 {
                calls.swap_remove(index);
            }
        }
    }
}

/// A question that is waiting for the user.
pub(crate) struct OpenQuestion<'a>(&'a Origin);

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        self.0.questions.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_belongs_to_the_only_conversation_that_is_worked_on() {
        let origin = Origin::new("a".into(), None, Vec::new());
        assert_eq!(origin.attribution(), Attribution::NotCalled);
        let (one, other) = (ConversationId::next(), ConversationId::next());
        let first = origin.enter(Some(one));
        let second = origin.enter(Some(one));
        assert_eq!(origin.attribution(), Attribution::One(Some(one)));
        let third = origin.enter(Some(other));
        assert_eq!(origin.attribution(), Attribution::Several);
        drop(third);
        drop(first);
        assert_eq!(origin.attribution(), Attribution::One(Some(one)));
        drop(second);
        assert_eq!(origin.attribution(), Attribution::NotCalled);
    }

    #[test]
    fn a_server_has_few_questions_open() {
        let origin = Origin::new("a".into(), None, Vec::new());
        let open: Vec<_> = (0..MAX_OPEN_QUESTIONS)
            .map(|_| origin.open_question())
            .collect();
        assert!(open.iter().all(Option::is_some));
        assert!(origin.open_question().is_none());
        drop(open);
        assert!(origin.open_question().is_some());
    }
}
