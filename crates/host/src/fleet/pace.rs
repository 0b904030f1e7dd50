//! How soon a server is restarted after a failure. Time is an argument.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;
use turnbuckle_base::jitter;

/// How soon servers are restarted after a failure. Set it with
/// [`HostBuilder::pacing`](crate::HostBuilder::pacing).
///
/// The pause doubles with each failure, and is shortened by up to a quarter at random, so that
/// servers that failed together do not start together. A server that fails too often rests for a
/// while; a call during that time fails at once. One more failure after the rest leads to the next
/// rest.
///
/// ```
/// use std::time::Duration;
/// use turnbuckle_host::{Host, Pacing};
///
/// let patient = Pacing { max_failures: 20, rest: Duration::from_secs(10), ..Pacing::default() };
/// let builder = Host::builder("my-app", "1.0.0").pacing(patient);
/// # drop(builder);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pacing {
    /// The pause after the first failure; it doubles with each further one. Defaults to 100 ms.
    pub first_pause: Duration,
    /// The longest pause between two starts, unless the server rests. Defaults to 30 s.
    pub longest_pause: Duration,
    /// After this many failures within the window the server rests. Defaults to 5.
    pub max_failures: usize,
    /// The window in which failures are counted. Time that the server spends on starting is not
    /// included, so that servers that fail slowly rest too. Defaults to 60 s.
    pub window: Duration,
    /// How long a server rests. Its state is [`Failed`](crate::ServerState::Failed) with
    /// `retry_after` meanwhile. Defaults to 60 s.
    pub rest: Duration,
    /// After a server was ready for this long, its next failure leads to the first pause again,
    /// whatever failed before. Defaults to 10 s.
    pub stable: Duration,
}

impl Default for Pacing {
    fn default() -> Self {
        Self {
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(30),
            max_failures: 5,
            window: Duration::from_mins(1),
            rest: Duration::from_mins(1),
            stable: Duration::from_secs(10),
        }
    }
}

/// How far a server got before it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The server did not start; the attempt took this long.
    NotStarted(Duration),
    /// The server was ready for this long.
    WasReady(Duration),
}

/// What to do after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// Start again after this long.
    Short(Duration),
    /// The server failed too often: wait this long before the next start.
    Rest(Duration),
}

impl Pause {
    pub(crate) fn duration(self) -> Duration {
        match self {
            Self::Short(pause) | Self::Rest(pause) => pause,
        }
    }
}

/// The recorded failures of one server.
#[derive(Debug)]
pub(crate) struct Pace {
    pacing: Pacing,
    failures: VecDeque<Instant>,
    /// The number of failures since the server was last stable.
    in_a_row: u32,
}

impl Pace {
    pub(crate) fn new(pacing: Pacing) -> Self {
        Self {
            pacing,
            failures: VecDeque::new(),
            in_a_row: 0,
        }
    }

    /// Records a failure, and returns the pause before the next start.
    pub(crate) fn failed(&mut self, now: Instant, attempt: Attempt) -> Pause {
        match attempt {
            Attempt::WasReady(time) if time >= self.pacing.stable => self.in_a_row = 0,
            Attempt::WasReady(_) => {}
            // A start may take as long as the window. Earlier failures do not age during a start;
            // otherwise a server that never answers would never have enough failures to rest.
            Attempt::NotStarted(took) => {
                for failure in &mut self.failures {
                    *failure = failure.checked_add(took).unwrap_or(now).min(now);
                }
            }
        }
        let window = self.pacing.window;
        self.failures
            .retain(|failure| now.saturating_duration_since(*failure) < window);
        self.failures.push_back(now);
        let doubled = self
            .pacing
            .first_pause
            .saturating_mul(1_u32.checked_shl(self.in_a_row).unwrap_or(u32::MAX));
        self.in_a_row = self.in_a_row.saturating_add(1);
        if self.failures.len() >= self.pacing.max_failures {
            // One more failure after the rest leads to the next rest.
            self.failures.pop_front();
            return Pause::Rest(self.pacing.rest);
        }
        Pause::Short(Self::spread(doubled.min(self.pacing.longest_pause)))
    }

    /// Shortens a pause by up to a quarter, so that servers that failed together do not start together.
    fn spread(pause: Duration) -> Duration {
        let share = jitter::random() % 256;
        let share = u32::try_from(share).unwrap_or(0);
        pause.saturating_sub(pause / 4 * share / 256)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A start that fails immediately.
    const AT_ONCE: Attempt = Attempt::NotStarted(Duration::ZERO);

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut pace = Pace::new(Pacing {
            max_failures: 100,
            ..Pacing::default()
        });
        let start = Instant::now();
        for (failure, longest) in [100, 200, 400, 800, 1_600].into_iter().enumerate() {
            let Pause::Short(pause) = pace.failed(at(start, failure as u64), AT_ONCE) else {
                panic!("100 failures are allowed")
            };
            let longest = Duration::from_millis(longest);
            assert!(pause <= longest && pause >= longest / 4 * 3, "{pause:?}");
        }
        for second in 5..60 {
            let pause = pace.failed(at(start, second), AT_ONCE).duration();
            assert!(pause <= Duration::from_secs(30), "{pause:?}");
        }
    }

    #[test]
    fn five_failures_in_a_minute_lead_to_a_rest_and_so_does_one_more_after_it() {
        let mut pace = Pace::new(Pacing::default());
        let start = Instant::now();
        for second in 0..4 {
            assert!(matches!(
                pace.failed(at(start, second), AT_ONCE),
                Pause::Short(_)
            ));
        }
        let rest = Pause::Rest(Duration::from_mins(1));
        assert_eq!(pace.failed(at(start, 4), AT_ONCE), rest);
        assert_eq!(pace.failed(at(start, 5), AT_ONCE), rest);
        // Failures before the window do not count.
        assert!(matches!(
            pace.failed(at(start, 200), AT_ONCE),
            Pause::Short(_)
        ));
    }

    #[test]
    fn a_server_that_takes_the_whole_window_to_fail_rests_too() {
        let pacing = Pacing::default();
        let mut pace = Pace::new(pacing);
        let start = Instant::now();
        let slowly = Attempt::NotStarted(pacing.window);
        for minute in 1..5 {
            assert!(matches!(
                pace.failed(at(start, 60 * minute), slowly),
                Pause::Short(_)
            ));
        }
        let rest = Pause::Rest(pacing.rest);
        assert_eq!(pace.failed(at(start, 300), slowly), rest);
    }

    #[test]
    fn a_server_that_was_stable_starts_again_at_once() {
        let mut pace = Pace::new(Pacing::default());
        let start = Instant::now();
        for second in 0..3 {
            pace.failed(at(start, second), AT_ONCE);
        }
        let pause = pace.failed(at(start, 100), Attempt::WasReady(Duration::from_secs(90)));
        assert!(pause.duration() <= Duration::from_millis(100), "{pause:?}");
    }
}
