//! The state machine of a search.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::{
    Action, Asked, DetectedRevision, Event, Outcome, ProbeFailure, Reason, Settings,
    memory::{Budget, CurrentRequests, Sent, Trail},
};
use crate::{Era, negotiate::newest};

/// Detects the revision of the server at the other end of a connection.
///
/// ```
/// use turnbuckle_protocol::Revision;
/// use turnbuckle_session::probe::{Action, Asked, Event, Probe, ProbeRefusal, Settings};
///
/// let mut probe = Probe::new(Settings::new());
/// assert!(matches!(probe.on(Event::Started), Some(Action::SendDiscover { .. })));
/// let refused = Event::Refused {
///     asked: Asked::Discover,
///     refusal: ProbeRefusal::Error(-32601),
///     message: "unknown method".into(),
///     supported: vec![],
/// };
/// assert!(matches!(probe.on(refused), Some(Action::SendInitialize { .. })));
/// let took = std::time::Duration::from_millis(20);
/// let answer = Event::Initialized { version: "2025-06-18".into(), took };
/// let Some(Action::Ready(detected)) = probe.on(answer) else { panic!("the handshake is done") };
/// assert_eq!(detected.revision, Revision::V2025_06_18);
/// ```
#[derive(Debug)]
pub struct Probe {
    pub(super) settings: Settings,
    /// The allowed revisions.
    pub(super) allowed: Vec<Revision>,
    /// The newest allowed modern revision.
    pub(super) modern: Option<Revision>,
    /// The legacy revision for the handshake: the newest allowed, or one that the server asked for.
    pub(super) legacy: Option<Revision>,
    pub(super) state: State,
    pub(super) current: CurrentRequests,
    pub(super) budget: Budget,
    pub(super) trail: Trail,
    /// The revision in an answer to `server/discover` that came while waiting for `initialize`.
    pub(super) late: Option<Revision>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum State {
    Idle,
    Discovering {
        version: Revision,
        within: Duration,
    },
    Initializing {
        version: Revision,
        within: Duration,
    },
    /// Waiting for `server/discover` on the first connection, and for `initialize` on a second one.
    Racing {
        version: Revision,
    },
    /// `initialize` was answered with this version, and `server/discover` may still be answered.
    Confirming {
        version: Revision,
        legacy: Revision,
    },
    Reopening {
        then: Asked,
        version: Revision,
    },
    Done,
}

impl Probe {
    /// Creates a search that has not begun. Report [`Event::Started`] once the connection is open.
    pub fn new(settings: Settings) -> Self {
        let allowed = settings.allowed();
        Self {
            modern: newest(&allowed, Era::Modern),
            legacy: newest(&allowed, Era::Legacy),
            allowed,
            settings,
            state: State::Idle,
            current: CurrentRequests::default(),
            budget: Budget::default(),
            trail: Trail::default(),
            late: None,
        }
    }

    /// Handles an event and returns what to do next. `None` means to continue to wait.
    ///
    /// After [`Action::Ready`] or [`Action::Fail`] it always returns `None`.
    pub fn on(&mut self, event: Event) -> Option<Action> {
        match self.state {
            State::Idle => self.idle(&event),
            State::Discovering { version, within } => self.discovering(version, within, event),
            State::Initializing { version, within } => self.initializing(version, within, event),
            State::Racing { version } => self.racing(version, event),
            State::Confirming { version, legacy } => self.confirming(version, legacy, &event),
            State::Reopening { then, version } => self.reopening(then, version, &event),
            State::Done => None,
        }
    }

    fn idle(&mut self, event: &Event) -> Option<Action> {
        match (event, self.modern, self.legacy) {
            (Event::Started, None, None) => Some(self.fail(Reason::NothingAllowed)),
            (Event::Started, Some(modern), _) if !self.expects_legacy() => {
                Some(self.discover(modern))
            }
            (Event::Started, _, Some(legacy)) => Some(self.initialize(legacy)),
            (Event::Closed, ..) => Some(self.fail(Reason::Closed)),
            _ => None,
        }
    }

    fn expects_legacy(&self) -> bool {
        self.legacy.is_some() && self.remembers(Era::Legacy)
    }

    fn remembers(&self, era: Era) -> bool {
        self.settings
            .remembered
            .is_some_and(|detected| detected.era() == era)
    }

    fn reopening(&mut self, then: Asked, version: Revision, event: &Event) -> Option<Action> {
        match event {
            Event::Started => {
                self.current = CurrentRequests::default();
                Some(match then {
                    Asked::Discover => self.discover(version),
                    Asked::Initialize => self.initialize(version),
                })
            }
            Event::Closed | Event::Timeout => {
                self.trail.settle(&Outcome::Closed);
                Some(self.give_up(then, Outcome::Closed))
            }
            // A late answer from an earlier connection that has been closed.
            _ => None,
        }
    }

    /// Restarts the server for a handshake without a probe, because the probe may have harmed it.
    pub(super) fn start_clean(&mut self, asked: Asked, outcome: Outcome) -> Action {
        match self
            .legacy
            .filter(|_| self.budget.clean_initialize.is_left() || self.settings.second_way)
        {
            Some(legacy) if self.budget.reopen.spend() => self.reopen(Asked::Initialize, legacy),
            _ => self.give_up(asked, outcome),
        }
    }

    pub(super) fn allowed_except(&self, revision: Revision) -> Vec<Revision> {
        self.allowed
            .iter()
            .copied()
            .filter(|other| *other != revision)
            .collect()
    }

    pub(super) fn discover(&mut self, version: Revision) -> Action {
        // The short timeout is only used if `initialize` can follow.
        let has_fallback = self.legacy.is_some() && !self.remembers(Era::Modern);
        let within = if has_fallback {
            self.settings.probe_timeout
        } else {
            self.settings.handshake_timeout
        };
        self.current.discover = Sent::Waiting;
        self.trail.ask(Asked::Discover, version);
        self.state = State::Discovering { version, within };
        Action::SendDiscover { version, within }
    }

    pub(super) fn initialize(&mut self, version: Revision) -> Action {
        if self.current.discover == Sent::No {
            self.budget.clean_initialize.spend();
        }
        let within = self.settings.handshake_timeout;
        self.current.initialize = Sent::Waiting;
        self.trail.ask(Asked::Initialize, version);
        self.state = State::Initializing { version, within };
        Action::SendInitialize { version, within }
    }

    pub(super) fn reopen(&mut self, then: Asked, version: Revision) -> Action {
        self.trail.reopen();
        self.state = State::Reopening { then, version };
        Action::Reopen
    }

    pub(super) fn ready(&mut self, revision: Revision) -> Action {
        self.state = State::Done;
        Action::Ready(DetectedRevision { revision })
    }

    pub(super) fn give_up(&mut self, asked: Asked, outcome: Outcome) -> Action {
        let reason = match self.trail.last_refusal() {
            Some(refusal) => refusal.into_reason(Asked::Initialize),
            None => outcome.into_reason(asked),
        };
        self.fail(reason)
    }

    pub(super) fn fail(&mut self, reason: Reason) -> Action {
        self.state = State::Done;
        Action::Fail(ProbeFailure {
            reason,
            tried: self.trail.take(),
        })
    }
}
