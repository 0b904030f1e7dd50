//! The search while it waits for `server/discover`.

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
            // A late answer to the handshake: the server is slow, and legacy after all.
            Event::Initialized { version, .. } if self.current.initialize == Sent::Waiting => {
                Some(self.initialized(&version))
            }
            Event::Refused {
                asked: Asked::Initialize,
                ..
            } => {
                self.current.initialize = Sent::Answered;
                None
            }
            Event::Started | Event::Initialized { .. } | Event::SecondClosed => None,
        }
    }

    /// Handles a timeout of `server/discover`: the server is slow, or does not know the method.
    fn silent(&mut self, version: Revision, within: Duration) -> Action {
        let is_first = self.current.initialize == Sent::No;
        match self.legacy {
            Some(legacy)
                if self.settings.second_connection && is_first && self.budget.second.spend() =>
            {
                self.race(version, legacy, within)
            }
            // The handshake was already tried, on its own connection.
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
        self.current.discover = Sent::Answered;
        self.trail.settle(&Outcome::refused(refusal, message));
        match refusal {
            ProbeRefusal::Error(code::UNSUPPORTED_PROTOCOL_VERSION) => {
                self.other_version(asked, supported)
            }
            // stdio: a recognised modern error does not lead to `initialize`. Later calls will report
            // what these two errors say is missing.
            ProbeRefusal::Error(
                code::HEADER_MISMATCH | code::MISSING_REQUIRED_CLIENT_CAPABILITY,
            ) => self.ready(asked),
            _ => self.not_modern(Outcome::refused(refusal, message)),
        }
    }

    /// Handles the list of the server's versions.
    fn discovered(&mut self, versions: &[String]) -> Action {
        self.current.discover = Sent::Answered;
        self.trail.settle(&Outcome::Answered);
        match common(versions, &self.allowed, Era::Modern) {
            Some(modern) => self.ready(modern),
            None if versions.is_empty() => self.not_modern(Outcome::Odd),
            None => self.handshake_at_one_of(versions),
        }
    }

    /// Handles a modern server that does not support the requested version.
    ///
    /// A server that refuses a version and lists it anyway may be one of several replicas at one
    /// address, some newer than others: the request is sent once more.
    fn other_version(&mut self, asked: Revision, supported: &[String]) -> Action {
        let others = self.allowed_except(asked);
        let other = common(supported, &others, Era::Modern);
        match other.or_else(|| common(supported, &[asked], Era::Modern)) {
            Some(modern) if self.budget.other_discover.spend() => self.discover(modern),
            _ => self.handshake_at_one_of(supported),
        }
    }

    /// Handles a list without a common modern revision. Its legacy revisions are for clients that send
    /// `initialize`: they cannot be used without a handshake.
    fn handshake_at_one_of(&mut self, versions: &[String]) -> Action {
        match common(versions, &self.allowed, Era::Legacy) {
            Some(legacy)
                if self.current.initialize == Sent::No || self.budget.other_initialize.spend() =>
            {
                self.initialize(legacy)
            }
            _ => self.fail(Reason::no_common(versions, &self.allowed)),
        }
    }

    /// Handles an answer that is not modern. It proves nothing (stdio: the fallback MUST NOT depend on
    /// one code), so the handshake is tried.
    fn not_modern(&mut self, outcome: Outcome) -> Action {
        if outcome == Outcome::Odd {
            self.current.discover = Sent::Answered;
        }
        self.trail.settle(&outcome);
        match (self.legacy, &outcome) {
            (Some(legacy), _) if self.current.initialize == Sent::No => self.initialize(legacy),
            (None, Outcome::Refused { .. } | Outcome::Odd) => self.fail(Reason::NotModern),
            _ => self.start_clean(Asked::Discover, outcome),
        }
    }
}
