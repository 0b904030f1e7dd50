//! The search while both requests wait for answers, each on its own connection, and while only
//! `initialize` has been answered.

use std::time::Duration;

use turnbuckle_protocol::Revision;

use super::{
    Action, Asked, Event, Outcome, Probe,
    machine::State,
    memory::{CurrentRequests, Sent},
};

impl Probe {
    /// Tries the handshake on a second connection, because the first has not answered for `waited`.
    pub(super) fn race(&mut self, version: Revision, legacy: Revision, waited: Duration) -> Action {
        self.trail.settle(&Outcome::Silent(waited));
        self.trail.open_second();
        self.trail.ask(Asked::Initialize, legacy);
        self.state = State::Racing { version };
        Action::OpenSecond {
            version: legacy,
            within: self.settings.handshake_timeout,
        }
    }

    pub(super) fn racing(&mut self, version: Revision, event: Event) -> Option<Action> {
        let within = self.settings.handshake_timeout;
        match event {
            // The first connection was only slow: it has answered.
            event @ (Event::Discovered { .. }
            | Event::Garbage
            | Event::Refused {
                asked: Asked::Discover,
                ..
            }) => {
                self.state = State::Discovering { version, within };
                self.discovering(version, within, event)
            }
            Event::Initialized {
                version: answered, ..
            } if self.legacy_of(&answered).is_none() => {
                self.budget.clean_initialize.spend();
                Some(self.lose_second(version, &Outcome::Odd))
            }
            Event::Initialized { version, took } => Some(self.initialized_first(&version, took)),
            Event::Refused {
                asked: Asked::Initialize,
                refusal,
                message,
                ..
            } => Some(self.lose_second(version, &Outcome::refused(refusal, &message))),
            Event::SecondClosed => Some(self.lose_second(version, &Outcome::Closed)),
            Event::Closed => {
                self.budget.reopen.spend();
                self.budget.clean_initialize.spend();
                self.current = CurrentRequests {
                    discover: Sent::No,
                    initialize: Sent::Waiting,
                };
                let version = self.legacy.unwrap_or(version);
                self.state = State::Initializing { version, within };
                Some(Action::KeepSecond { within })
            }
            Event::Timeout => {
                let outcome = Outcome::Silent(within);
                self.trail.settle(&outcome);
                Some(self.give_up(Asked::Initialize, outcome))
            }
            Event::Started => None,
        }
    }

    /// Handles an answer to `initialize` that came before that to `server/discover`. The two requests
    /// were sent one after the other, so `server/discover` has waited for the probe timeout plus the
    /// time of this answer. If that is less than twice the time of this answer, the server may only be
    /// slow.
    pub(super) fn initialized_first(&mut self, version: &str, took: Duration) -> Action {
        let head_start = self.settings.probe_timeout;
        match (self.legacy_of(version), self.modern) {
            (Some(legacy), Some(modern)) if took > head_start => {
                self.state = State::Confirming {
                    version: modern,
                    legacy,
                };
                let within = took.saturating_sub(head_start);
                let within = within.min(self.settings.handshake_timeout);
                Action::Confirm { within }
            }
            _ => self.initialized(version),
        }
    }

    pub(super) fn confirming(
        &mut self,
        version: Revision,
        legacy: Revision,
        event: &Event,
    ) -> Option<Action> {
        if let Some(modern) = self.modern_in(event) {
            return Some(self.ready(modern));
        }
        match event {
            Event::SecondClosed => Some(self.lose_second(version, &Outcome::Closed)),
            Event::Discovered { .. }
            | Event::Refused {
                asked: Asked::Discover,
                ..
            }
            | Event::Garbage
            | Event::Closed
            | Event::Timeout => {
                self.trail.settle(&Outcome::Answered);
                Some(self.ready(legacy))
            }
            Event::Started | Event::Initialized { .. } | Event::Refused { .. } => None,
        }
    }

    /// Ends the second connection, which has failed. The first gets as much time as any server.
    fn lose_second(&mut self, version: Revision, outcome: &Outcome) -> Action {
        if matches!(outcome, Outcome::Refused { .. }) {
            // The server refused a handshake without a probe: it would refuse another one too.
            self.budget.clean_initialize.spend();
        }
        self.trail.settle(outcome);
        let within = self.settings.handshake_timeout;
        self.state = State::Discovering { version, within };
        Action::AwaitDiscover { within }
    }
}
