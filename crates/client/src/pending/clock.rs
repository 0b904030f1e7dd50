//! The time that counts for deadlines: it is paused while the server waits for an answer.
//!
//! A legacy server asks in the middle of a call, and a user who fills in a form for three minutes
//! must not make that call run out of its own. Nothing on the wire says which call an ask belongs
//! to, so the clock of the whole connection is stopped while one is open.

use std::time::{Duration, Instant};

/// A clock that can be held.
#[derive(Debug, Default)]
pub(super) struct Clock {
    holders: usize,
    held_since: Option<Instant>,
    lag: Duration,
}

impl Clock {
    /// The time on this clock when it is `real` on the wall.
    pub(super) fn at(&self, real: Instant) -> Instant {
        let moving = self.held_since.unwrap_or(real);
        moving.checked_sub(self.lag).unwrap_or(moving)
    }

    /// When the wall will show what this clock calls `time`; `None` while it is held.
    pub(super) fn wall(&self, time: Instant) -> Option<Instant> {
        if self.held_since.is_some() {
            None
        } else {
            time.checked_add(self.lag)
        }
    }

    /// Stops the clock until each holder has let go.
    pub(super) fn hold(&mut self, real: Instant) {
        self.holders += 1;
        self.held_since.get_or_insert(real);
    }

    /// Lets go.
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
