//! The search while it waits for `initialize`.

use std::time::Duration;

use turnbuckle_protocol::{Revision, error::code};

use super::{Action, Asked, Event, Outcome, Probe, ProbeRefusal, Reason, memory::Sent};
use crate::{Era, negotiate::common};

impl Probe {
    pub(super) fn initializing(
        &mut self,
        version: Revision,
        within: Duration,
        event: Event,
    ) -> Option<Action> {
        let is_late = self.current.discover == Sent::Waiting;
        match event {
            // Requests over HTTP are independent of each other. A pipe that has answered `initialize`
            // is in a session, and stays in it.
            Event::Initialized { version, took } if is_late && self.settings.second_way => {
                Some(self.initialized_first(&version, took))
            }
            Event::Initialized { version, .. } => Some(self.initialized(&version)),
            Event::Refused {
                asked: Asked::Initialize,
                refusal,
                message,
                supported,
            } => Some(self.refused(version, Outcome::refused(refusal, &message), &supported)),
            event @ (Event::Discovered { .. }
            | Event::Refused {
                asked: Asked::Discover,
                ..
            }) if is_late => {
                let modern = self.modern_in(&event);
                self.note(modern)
            }
            // This is more likely the late answer to the probe than the answer to `initialize`.
            Event::Garbage if is_late => self.note(None),
            Event::Garbage => Some(self.refused(version, Outcome::Odd, &[])),
            Event::Timeout => Some(self.unanswered(Outcome::Silent(within))),
            Event::Closed => Some(self.hung_up()),
            Event::Started
            | Event::Discovered { .. }
            | Event::Refused { .. }
            | Event::SecondClosed => None,
        }
    }

    /// Handles a late answer to the probe. On a pipe it has no effect while the handshake may still
    /// succeed.
    fn note(&mut self, modern: Option<Revision>) -> Option<Action> {
        self.current.discover = Sent::Answered;
        self.late = modern;
        let is_enough = self.settings.second_way;
        modern
            .filter(|_| is_enough)
            .map(|modern| self.ready(modern))
    }

    /// Returns the modern revision to use after an answer to `server/discover`, if any.
    pub(super) fn modern_in(&self, event: &Event) -> Option<Revision> {
        match event {
            Event::Discovered { versions } => common(versions, &self.allowed, Era::Modern),
            Event::Refused {
                asked: Asked::Discover,
                refusal: ProbeRefusal::Error(code::UNSUPPORTED_PROTOCOL_VERSION),
                supported,
                ..
            } => common(supported, &self.allowed, Era::Modern),
            Event::Refused {
                asked: Asked::Discover,
                refusal:
                    ProbeRefusal::Error(
                        code::HEADER_MISMATCH | code::MISSING_REQUIRED_CLIENT_CAPABILITY,
                    ),
                ..
            } => self.modern,
            _ => None,
        }
    }

    pub(super) fn initialized(&mut self, version: &str) -> Action {
        self.trail.settle(&Outcome::Answered);
        match self.legacy_of(version) {
            Some(legacy) => self.ready(legacy),
            // lifecycle: a client that does not support the version of the answer SHOULD disconnect.
            None => self.fail(Reason::unsupported_answer(version, &self.allowed)),
        }
    }

    /// Returns the revision of an answer to `initialize`, if it is allowed.
    pub(super) fn legacy_of(&self, version: &str) -> Option<Revision> {
        Revision::from_date(version).filter(|revision| {
            Era::from(*revision) == Era::Legacy && self.allowed.contains(revision)
        })
    }

    /// Handles a handshake that was refused, or an answer that is invalid.
    fn refused(&mut self, asked: Revision, outcome: Outcome, supported: &[String]) -> Action {
        self.current.initialize = Sent::Answered;
        self.trail.settle(&outcome);
        if let Some(modern) = self.late {
            return self.ready(modern);
        }
        if let Some(action) = self.follow(asked, supported) {
            return action;
        }
        match self.modern {
            Some(modern)
                if self.current.discover != Sent::Answered && self.budget.look_again.spend() =>
            {
                self.discover(modern)
            }
            _ => self.start_clean(Asked::Initialize, outcome),
        }
    }

    /// Follows the list of versions in a refusal of `initialize`: modern ones, of a server without
    /// handshakes, or other ones for another handshake. Returns `None` if the list contains nothing
    /// new.
    fn follow(&mut self, asked: Revision, supported: &[String]) -> Option<Action> {
        if supported.is_empty() {
            return None;
        }
        let modern = common(supported, &self.allowed, Era::Modern);
        if let Some(modern) = modern.filter(|_| self.budget.look_again.spend()) {
            return Some(self.discover(modern));
        }
        let other = common(supported, &self.allowed_except(asked), Era::Legacy);
        if let Some(legacy) = other.filter(|_| self.budget.other_initialize.spend()) {
            self.legacy = Some(legacy);
            return Some(self.initialize(legacy));
        }
        let is_any_common = modern.is_some()
            || other.is_some()
            || supported.iter().any(|version| version == asked.as_str());
        (!is_any_common).then(|| self.fail(Reason::no_common(supported, &self.allowed)))
    }

    /// Handles a timeout of the handshake.
    fn unanswered(&mut self, outcome: Outcome) -> Action {
        self.trail.settle(&outcome);
        match (self.late, self.modern) {
            (Some(modern), _) => self.ready(modern),
            // A remembered revision was used without a probe; it may be out of date.
            (None, Some(modern))
                if !self.trail.has_asked(Asked::Discover) && self.budget.look_again.spend() =>
            {
                self.discover(modern)
            }
            _ => self.start_clean(Asked::Initialize, outcome),
        }
    }

    /// Handles the end of the connection after `initialize` was sent.
    fn hung_up(&mut self) -> Action {
        self.trail.settle(&Outcome::Closed);
        let unprobed = self
            .modern
            .filter(|_| !self.trail.has_asked(Asked::Discover));
        match self.late.or(unprobed) {
            Some(modern) if self.budget.reopen.spend() => self.reopen(Asked::Discover, modern),
            _ => self.start_clean(Asked::Initialize, Outcome::Closed),
        }
    }
}
