//! The search while `server/discover` is waited for.

use std::time::Duration;

use turnbuckle_protocol::{Revision, error::code};

use super::{Action, Asked, Event, Outcome, Probe, ProbeRefusal, Reason, memory::Sent};
use crate::{Era, negotiate::common};

impl Probe {
    pub(super) fn discovering(
        &mut self,
        version: Revision,
        within: Duration,
        event: Event,
    ) -> Option<Action> {
        match event {
            Event::Discovered { versions } => Some(self.discovered(&versions)),
            Event::Refused {
                asked: Asked::Discover,
                refusal,
                message,
                supported,
            } => Some(self.refused_to_discover(version, refusal, &message, &supported)),
            Event::Garbage => Some(self.not_modern(Outcome::Odd)),
            Event::Timeout => Some(self.silent(version, within)),
            Event::Closed => {
                self.trail.settle(&Outcome::Closed);
                Some(self.start_clean(Asked::Discover, Outcome::Closed))
            }
            // The handshake was given up too early: the server is slow, and legacy after all.
            Event::Initialized { version, .. } if self.here.initialize == Sent::Waiting => {
                Some(self.initialized(&version))
            }
            Event::Refused {
                asked: Asked::Initialize,
                ..
            } => {
                self.here.initialize = Sent::Answered;
                None
            }
            Event::Started | Event::Initialized { .. } | Event::SecondClosed => None,
        }
    }

    /// `server/discover` got no answer in time: the server is slow, or does not know it.
    fn silent(&mut self, version: Revision, within: Duration) -> Action {
        let is_first = self.here.initialize == Sent::No;
        match self.legacy {
            Some(legacy)
                if self.settings.second_connection && is_first && self.budget.second.spend() =>
            {
                self.race(version, legacy, within)
            }
            // The handshake has been tried, on a connection of its own.
            Some(_) if self.settings.second_connection && is_first => {
                self.start_clean(Asked::Discover, Outcome::Silent(within))
            }
            _ => self.not_modern(Outcome::Silent(within)),
        }
    }

    fn refused_to_discover(
        &mut self,
        asked: Revision,
        refusal: ProbeRefusal,
        message: &str,
        supported: &[String],
    ) -> Action {
        self.here.discover = Sent::Answered;
        self.trail.settle(&Outcome::refused(refusal, message));
        match refusal {
            ProbeRefusal::Error(code::UNSUPPORTED_PROTOCOL_VERSION) => {
                self.other_version(asked, supported)
            }
            // stdio: a recognised modern error does not lead to `initialize`. What these two miss,
            // the calls to come will say.
            ProbeRefusal::Error(
                code::HEADER_MISMATCH | code::MISSING_REQUIRED_CLIENT_CAPABILITY,
            ) => self.ready(asked),
            _ => self.not_modern(Outcome::refused(refusal, message)),
        }
    }

    /// The server has listed its versions.
    fn discovered(&mut self, versions: &[String]) -> Action {
        self.here.discover = Sent::Answered;
        self.trail.settle(&Outcome::Answered);
        match common(versions, &self.allowed, Era::Modern) {
            Some(modern) => self.ready(modern),
            None if versions.is_empty() => self.not_modern(Outcome::Odd),
            None => self.handshake_at_one_of(versions),
        }
    }

    /// The server is modern, but not at the version it was asked at.
    ///
    /// One that refuses a version and lists it all the same may be one of several behind an
    /// address, some newer than others: it is asked once more.
    fn other_version(&mut self, asked: Revision, supported: &[String]) -> Action {
        let others = self.allowed_except(asked);
        let other = common(supported, &others, Era::Modern);
        match other.or_else(|| common(supported, &[asked], Era::Modern)) {
            Some(modern) if self.budget.other_discover.spend() => self.discover(modern),
            _ => self.handshake_at_one_of(supported),
        }
    }

    /// Legacy revisions in a modern server's list are meant for clients that send `initialize`:
    /// they cannot be spoken request by request.
    fn handshake_at_one_of(&mut self, versions: &[String]) -> Action {
        match common(versions, &self.allowed, Era::Legacy) {
            Some(legacy)
                if self.here.initialize == Sent::No || self.budget.other_initialize.spend() =>
            {
                self.initialize(legacy)
            }
            _ => self.fail(Reason::no_common(versions, &self.allowed)),
        }
    }

    /// The answer was not a modern one. That proves nothing (stdio: the fallback MUST NOT depend on
    /// one code), so the handshake is tried.
    fn not_modern(&mut self, outcome: Outcome) -> Action {
        if outcome == Outcome::Odd {
            self.here.discover = Sent::Answered;
        }
        self.trail.settle(&outcome);
        match (self.legacy, &outcome) {
            (Some(legacy), _) if self.here.initialize == Sent::No => self.initialize(legacy),
            (None, Outcome::Refused { .. } | Outcome::Odd) => self.fail(Reason::NotModern),
            _ => self.start_clean(Asked::Discover, outcome),
        }
    }
}
