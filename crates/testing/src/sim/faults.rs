//! The faults of the network.

use std::time::Duration;

use super::Random;

/// How bad the network of a simulation is. The faults of each connection are drawn at random within these limits.
///
/// ```
/// use turnbuckle_testing::sim::Faults;
///
/// let only_slow = Faults::none().with_delay(std::time::Duration::from_secs(2));
/// # let _ = only_slow;
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Faults {
    /// The longest delay of bytes on their way.
    pub delay: Duration,
    /// How many connections in a thousand are cut in the middle: both ends see an error, and bytes on their way
    /// are lost.
    pub cuts: u16,
    /// How many connections in a thousand become silent: nothing arrives any more, and the ends only notice
    /// when the system gives up the connection after two minutes.
    pub half_open: u16,
    /// How many connections in a thousand have an end that reads slowly.
    pub slow_readers: u16,
    /// How many attempts to connect in a thousand are refused.
    pub refusals: u16,
}

/// 40 ms: enough for the messages of several clients to overtake each other.
const DELAY: Duration = Duration::from_millis(40);

/// When a system gives up a connection whose other end is silent.
pub(super) const GIVEN_UP_AFTER: Duration = Duration::from_mins(2);

/// A fault happens somewhere within these first bytes of a connection: handshakes, a few calls.
const FAULT_WITHIN_BYTES: u64 = 6000;

/// How many bytes a slow reader takes at a time, and how long it then pauses.
const SLOW_BYTES: u64 = 2000;
const SLOW_PAUSE: Duration = Duration::from_millis(400);

impl Default for Faults {
    fn default() -> Self {
        Self {
            delay: DELAY,
            cuts: 250,
            half_open: 60,
            slow_readers: 150,
            refusals: 30,
        }
    }
}

impl Faults {
    /// A network that only delays messages.
    pub fn none() -> Self {
        Self {
            delay: DELAY,
            cuts: 0,
            half_open: 0,
            slow_readers: 0,
            refusals: 0,
        }
    }

    /// Sets the longest delay.
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Sets how many connections in a thousand are cut.
    pub fn with_cuts(mut self, per_mille: u16) -> Self {
        self.cuts = per_mille;
        self
    }

    /// Sets how many connections in a thousand become silent.
    pub fn with_half_open(mut self, per_mille: u16) -> Self {
        self.half_open = per_mille;
        self
    }

    /// Sets how many connections in a thousand have an end that reads slowly.
    pub fn with_slow_readers(mut self, per_mille: u16) -> Self {
        self.slow_readers = per_mille;
        self
    }

    /// Sets how many attempts to connect in a thousand are refused.
    pub fn with_refusals(mut self, per_mille: u16) -> Self {
        self.refusals = per_mille;
        self
    }

    /// Draws the faults of one direction of a connection.
    pub(super) fn draw(&self, random: &mut Random) -> Fate {
        let fault = if random.chance(self.cuts) {
            Some(Fault::Cut)
        } else if random.chance(self.half_open) {
            Some(Fault::Silence)
        } else {
            None
        };
        Fate {
            delay: random.time(self.delay),
            fault: fault.map(|fault| (random.below(FAULT_WITHIN_BYTES), fault)),
            slow: random
                .chance(self.slow_readers)
                .then(|| (1 + random.below(SLOW_BYTES), random.time(SLOW_PAUSE))),
        }
    }
}

/// What goes wrong with a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Cut,
    Silence,
}

/// The faults of one direction of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    /// The longest delay of its bytes.
    pub(super) delay: Duration,
    /// The fault, and after how many bytes it happens.
    pub(super) fault: Option<(u64, Fault)>,
    /// How many bytes are read at a time, and the pause after them.
    pub(super) slow: Option<(u64, Duration)>,
}
