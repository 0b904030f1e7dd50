//! The clock for deadlines, which is paused while the server waits for an answer.
//!
//! A legacy server asks in the middle of a call. If a user fills in a form for three minutes, the call
//! must not exceed its deadline because of that. Nothing on the wire says which call a question belongs
//! to, so the clock of the whole connection is paused while a question is open.

use std::time::{Duration, Instant};

/// A clock that can be paused.
#[derive(Debug, Default)]
pub(super) struct Clock {
    holders: usize,
    held_since: Option<Instant>,
    lag: Duration,
}

impl Clock {
    /// The time of this clock at the time `real`.
    pub(super) fn at(&self, real: Instant) -> Instant {
        let moving = self.held_since.unwrap_or(real);
        moving.checked_sub(self.lag).unwrap_or(moving)
    }

    /// The real time at which this clock will show `time`; `None` while it is paused.
    pub(super) fn wall(&self, time: Instant) -> Option<Instant> {
        if self.held_since.is_some() {
            None
        } else {
            time.checked_add(self.lag)
        }
    }

    /// Pauses the clock until each holder has released it.
    pub(super) fn hold(&mut self, real: Instant) {
        self.holders += 1;
        self.held_since.get_or_insert(real);
    }

    /// Releases the clock.
    pub(super) fn release(&mut self, real: Instant) {
        self.holders = self.holders.saturating_sub(1);
        if self.holders == 0
            && let Some(since) = self.held_since.take()
        {
            self.lag += real.saturating_duration_since(since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_time_does_not_count_however_many_hold_it() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut clock = Clock::default();
        assert_eq!(clock.at(after(5)), after(5));
        clock.hold(after(10));
        clock.hold(after(20));
        assert_eq!(clock.at(after(25)), after(10));
        assert_eq!(clock.wall(after(12)), None);
        clock.release(after(30));
        assert_eq!(clock.at(after(35)), after(10));
        clock.release(after(40));
        assert_eq!(clock.at(after(41)), after(11));
        assert_eq!(clock.wall(after(12)), Some(after(42)));
    }
}
