//! Determines which call a question on a pipe belongs to (G6).
//!
//! Every call that was in flight when the question arrived may have asked it, for any caller. A
//! call that ends before the question is answered did not ask it. So the question is held until
//! only one call is left. Calls that begin later did not ask it either, so they need not wait.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::Instant;
use turnbuckle_client::RelayAsk;

use super::{
    call_asks::CallAsks,
    hub::UNKNOWN_WITHIN,
    known_tools::{AskingHabit, KnownTools},
};

/// How long a question is held until only one call is left that may have asked it.
pub(super) const HELD_FOR: Duration = Duration::from_secs(30);

/// The same for the first of several held questions, if every call may be waiting for an answer, so
/// that none may end.
pub(super) const HELD_BY_ALL_FOR: Duration = Duration::from_secs(2);

/// How many questions may be held on one connection.
const MAX_HELD: usize = 256;

/// For how long a call that was given up may still ask, because the server may not have noticed.
/// During this time no client of another caller is asked a question that may belong to that call.
const GIVEN_UP_FOR: Duration = Duration::from_secs(30);

/// The same for calls of the same caller, and for callers that are not identified. Calls of tools
/// that may ask wait for this long after such a call was given up.
const SETTLES_WITHIN: Duration = Duration::from_secs(2);

/// How many calls that were given up are remembered.
const MAX_GIVEN_UP: usize = 64;

/// A call in flight.
pub(super) struct Open {
    pub(super) number: u64,
    pub(super) caller: Option<String>,
    pub(super) subject: Arc<str>,
    pub(super) asks: Arc<CallAsks>,
    pub(super) turn: Arc<super::Turn>,
    pub(super) began: Instant,
}

/// A call that was given up before the server answered.
#[derive(Clone)]
pub(super) struct GivenUp {
    caller: Option<String>,
    subject: Arc<str>,
    at: Instant,
    /// Whether its client was being asked, so that the server was waiting for the answer.
    waited: bool,
}

impl GivenUp {
    /// Whether this call may have asked a question that arrived at this time, while another call of
    /// this caller was in flight.
    fn may_ask(&self, now: Instant, caller: Option<&str>) -> bool {
        let since = now.duration_since(self.at);
        if self.caller.as_deref() == caller {
            return since < SETTLES_WITHIN && !self.waited;
        }
        since < GIVEN_UP_FOR
    }
}

/// A question that several calls may have asked.
struct HeldQuestion {
    number: u64,
    ask: Box<RelayAsk>,
    /// The calls in flight that may have asked it.
    open: Vec<u64>,
    /// The calls that were given up and may have asked it.
    given_up: Vec<GivenUp>,
    came_at: Instant,
}

/// The decision about a question.
pub(super) enum Assignment {
    /// The question belongs to this call.
    Of(Arc<CallAsks>, Box<RelayAsk>),
    /// The question may belong to several calls, or to a cancelled one.
    Unclear(Box<RelayAsk>),
    /// The question belongs to no call.
    OfNone(Box<RelayAsk>),
}

/// The calls in flight on one connection, and the questions that may belong to several of them.
#[derive(Default)]
pub(super) struct LaneCalls {
    open: Vec<Open>,
    given_up: VecDeque<GivenUp>,
    held: Vec<HeldQuestion>,
    next_held: u64,
}

impl LaneCalls {
    pub(super) fn enter(&mut self, call: Open) {
        self.open.push(call);
    }

    /// Removes a call that is over. Returns the held questions that can now be assigned to a call
    /// or to none.
    pub(super) fn leave(
        &mut self,
        number: u64,
        is_answered: bool,
        known: &KnownTools,
    ) -> Vec<Assignment> {
        let place = self.open.iter().position(|call| call.number == number);
        let Some(place) = place else {
            return Vec::new();
        };
        let left = self.open.remove(place);
        let now = Instant::now();
        let given_up = (!is_answered).then(|| GivenUp {
            waited: left.turn.waits(),
            caller: left.caller,
            subject: left.subject,
            at: now,
        });
        for held in &mut self.held {
            if let Some(place) = held.open.iter().position(|call| *call == number) {
                held.open.remove(place);
                // The call may still have asked the question.
                held.given_up.extend(given_up.clone());
            }
        }
        if let Some(given_up) = given_up {
            self.given_up
                .retain(|call| now.duration_since(call.at) < GIVEN_UP_FOR);
            if self.given_up.len() >= MAX_GIVEN_UP {
                self.given_up.pop_front();
            }
            self.given_up.push_back(given_up);
        }
        self.settle_clear(known)
    }

    /// Handles a new question. If it is held, returns `Err` with the number of the held question.
    pub(super) fn came(
        &mut self,
        ask: Box<RelayAsk>,
        known: &KnownTools,
    ) -> Result<Assignment, u64> {
        let active = self.open.iter().filter(|call| call.turn.may_ask());
        let mut open: Vec<u64> = active.map(|call| call.number).collect();
        if open.is_empty() {
            // The question arrived late, from a call whose other questions are already with its client.
            open.extend(self.open.iter().map(|call| call.number));
        }
        let came_at = Instant::now();
        let open = self.suspects(&open, came_at, known);
        self.next_held += 1;
        let held = HeldQuestion {
            number: self.next_held,
            ask,
            open,
            given_up: self.given_up.iter().cloned().collect(),
            came_at,
        };
        if held.open.len() <= 1 {
            return Ok(self.settle(held, known));
        }
        if self.held.len() >= MAX_HELD {
            return Ok(self.unclear(held, known));
        }
        let number = held.number;
        self.held.push(held);
        Err(number)
    }

    /// The calls that probably asked a question that arrived at this time: calls of tools that have
    /// asked before, and calls that have not yet been silent for long. A call that has been silent
    /// for long may run forever, so it must not keep all other calls from being asked.
    fn suspects(&self, open: &[u64], came_at: Instant, known: &KnownTools) -> Vec<u64> {
        let calls = || self.open.iter().filter(|call| open.contains(&call.number));
        let caller = calls().next().and_then(|call| call.caller.as_deref());
        let is_one_user = caller.is_some() && calls().all(|call| call.caller.as_deref() == caller);
        let silence = if is_one_user {
            UNKNOWN_WITHIN
        } else {
            HELD_FOR
        };
        let may_well =
            |call: &&Open| known.habit(&call.subject).asks() || came_at < call.began + silence;
        let suspects: Vec<u64> = calls().filter(may_well).map(|call| call.number).collect();
        if suspects.is_empty() {
            return open.to_vec();
        }
        suspects
    }

    /// The only one of these calls whose tool has asked before.
    fn only_asker(&self, open: &[u64], known: &KnownTools) -> Option<u64> {
        let calls = self.open.iter().filter(|call| open.contains(&call.number));
        let mut askers = calls.filter(|call| known.habit(&call.subject).asks());
        let asker = askers.next()?.number;
        askers.next().is_none().then_some(asker)
    }

    /// When a held question is checked again; `None` if it is no longer held.
    pub(super) fn looks_again_at(&self, number: u64) -> Option<Instant> {
        let held = self.held.iter().find(|held| held.number == number)?;
        let mut alike = self.held.iter().filter(|other| other.open == held.open);
        let is_first = alike.next().is_some_and(|first| first.number == number);
        // A call that waits for an answer does not end. If the first question is refused, one of
        // the calls may end.
        let wait = if is_first && alike.count() + 1 >= held.open.len() {
            HELD_BY_ALL_FOR
        } else {
            HELD_FOR
        };
        Some(held.came_at + wait)
    }

    /// Stops holding a question.
    pub(super) fn give_up_held(&mut self, number: u64, known: &KnownTools) -> Option<Assignment> {
        let place = self.held.iter().position(|held| held.number == number)?;
        let mut held = self.held.remove(place);
        // All these calls are still in flight, and none has asked anything else. If only one of
        // their tools asks, its call is the one that waits for the answer.
        if held.came_at.elapsed() >= HELD_FOR
            && let Some(asker) = self.only_asker(&held.open, known)
        {
            held.open = vec![asker];
            return Some(self.settle(held, known));
        }
        Some(self.unclear(held, known))
    }

    /// Drops held questions that the server has withdrawn.
    pub(super) fn forget_withdrawn(&mut self) {
        self.held.retain(|held| !held.ask.is_withdrawn());
    }

    /// The time by which the server has noticed the end of calls that may ask and were given up.
    pub(super) fn settles_at(&self, known: &KnownTools) -> Option<Instant> {
        let may_ask =
            |call: &&GivenUp| !call.waited && known.habit(&call.subject) != AskingHabit::Quiet;
        let given_up = self.given_up.iter().filter(may_ask);
        given_up.map(|call| call.at + SETTLES_WITHIN).max()
    }

    /// Whether no call of another caller is, or was until a moment ago, in flight here, so that a
    /// question can only belong to this caller. Two callers without an id may be two different
    /// users.
    pub(super) fn is_alone(&self, caller: Option<&str>) -> bool {
        let now = Instant::now();
        let is_same = |other: &Option<String>| caller.is_some() && other.as_deref() == caller;
        self.open.iter().all(|call| is_same(&call.caller))
            && !self.given_up.iter().any(|call| call.may_ask(now, caller))
    }

    /// Removes and assigns the held questions for which at most one call is left.
    fn settle_clear(&mut self, known: &KnownTools) -> Vec<Assignment> {
        let (clear, held) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|held: &HeldQuestion| held.open.len() <= 1);
        self.held = held;
        clear
            .into_iter()
            .map(|held: HeldQuestion| self.settle(held, known))
            .collect()
    }

    /// Assigns a question for which at most one call is left.
    fn settle(&self, held: HeldQuestion, known: &KnownTools) -> Assignment {
        let number = held.open.first().copied();
        let call = self.open.iter().find(|call| Some(call.number) == number);
        let Some(call) = call else {
            return Assignment::OfNone(held.ask);
        };
        let habit = known.habit(&call.subject);
        let is_other = |other: &GivenUp| {
            // If the call's tool has asked before, the question is not from a tool that never has.
            let is_quiet = habit.asks() && known.habit(&other.subject) == AskingHabit::Quiet;
            // A call that was given up after the question arrived may have asked it, however long
            // ago that was.
            let may_ask =
                other.at >= held.came_at || other.may_ask(held.came_at, call.caller.as_deref());
            may_ask && !is_quiet
        };
        if held.given_up.iter().any(is_other) {
            return self.unclear(held, known);
        }
        if call.turn.waits_long() {
            call.turn.keep();
            known.asked_again(&call.subject);
        } else {
            known.asked(&call.subject);
        }
        Assignment::Of(Arc::clone(&call.asks), held.ask)
    }

    /// Handles a question whose call cannot be determined. From now on the tools concerned take
    /// turns: those that have asked before, or otherwise all of them.
    fn unclear(&self, held: HeldQuestion, known: &KnownTools) -> Assignment {
        let open = self.open.iter();
        let open = open.filter(|call| held.open.contains(&call.number));
        let open = open.map(|call| &call.subject);
        let given_up = held.given_up.iter().map(|call| &call.subject);
        let subjects: Vec<&Arc<str>> = open.chain(given_up).collect();
        if !subjects.iter().any(|subject| known.habit(subject).asks()) {
            for subject in subjects {
                known.suspect(subject);
            }
        }
        Assignment::Unclear(held.ask)
    }
}
