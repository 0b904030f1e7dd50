//! The events that happen to the replicas and to Redis, in an order that the seed determines.

use std::fmt;

use super::random::Random;

/// The number of replicas.
pub(super) const REPLICAS: usize = 3;

/// How long a replica is stopped, in milliseconds.
const STOPPED_MS: u64 = 10_000;

/// By how many seconds a clock is shifted. The docs allow clocks to differ by a minute.
const CLOCK_SECONDS: i64 = 20;

/// An event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    /// `kill -9`; another process takes its place.
    Kill { replica: usize, down_ms: u64 },
    /// The same, and the clock of the new process is shifted.
    Clock {
        replica: usize,
        down_ms: u64,
        seconds: i64,
    },
    /// SIGSTOP, later SIGCONT.
    Stop { replica: usize, for_ms: u64 },
    /// SIGTERM, one replica after another; a new process takes the place of each.
    Roll,
    /// Redis is killed, and started again.
    RestartRedis { down_ms: u64 },
    /// Redis does nothing for a while.
    SleepRedis { for_ms: u64 },
    /// Redis closes all connections.
    CloseConnections,
    /// A replica and Redis are killed at once.
    KillBoth { replica: usize, down_ms: u64 },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kill { replica, down_ms } => {
                write!(f, "kill -9 replica {replica}, gone for {down_ms} ms")
            }
            Self::Clock {
                replica,
                down_ms,
                seconds,
            } => write!(
                f,
                "kill -9 replica {replica}, gone for {down_ms} ms, clock {seconds:+} s from then on"
            ),
            Self::Stop { replica, for_ms } => {
                write!(f, "SIGSTOP replica {replica} for {for_ms} ms")
            }
            Self::Roll => write!(f, "SIGTERM and restart of all replicas, one by one"),
            Self::RestartRedis { down_ms } => {
                write!(f, "kill -9 Redis, gone for {down_ms} ms")
            }
            Self::SleepRedis { for_ms } => write!(f, "DEBUG SLEEP of Redis for {for_ms} ms"),
            Self::CloseConnections => write!(f, "CLIENT KILL of all connections to Redis"),
            Self::KillBoth { replica, down_ms } => {
                write!(
                    f,
                    "kill -9 replica {replica} and Redis, gone for {down_ms} ms"
                )
            }
        }
    }
}

/// Endless events, with the calm after each in milliseconds. Each kind happens once in a round, in
/// random order.
pub(super) struct Events {
    random: Random,
    round: Vec<Event>,
}

impl Events {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            round: Vec::new(),
        }
    }

    fn round(&mut self) -> Vec<Event> {
        let random = &mut self.random;
        let mut replica = {
            let mut random = random.clone();
            move || usize::try_from(random.between(0, REPLICAS as u64 - 1)).unwrap_or(0)
        };
        let mut round = vec![
            Event::Kill {
                replica: replica(),
                down_ms: random.between(0, 3000),
            },
            Event::Clock {
                replica: replica(),
                down_ms: random.between(0, 1000),
                seconds: if random.between(0, 1) == 0 {
                    CLOCK_SECONDS
                } else {
                    -CLOCK_SECONDS
                },
            },
            Event::Stop {
                replica: replica(),
                for_ms: STOPPED_MS,
            },
            Event::Roll,
            Event::RestartRedis {
                down_ms: random.between(0, 4000),
            },
            Event::SleepRedis {
                for_ms: random.between(500, 1200),
            },
            Event::CloseConnections,
            Event::KillBoth {
                replica: replica(),
                down_ms: random.between(500, 3000),
            },
        ];
        random.shuffle(&mut round);
        round
    }
}

impl Iterator for Events {
    type Item = (Event, u64);

    fn next(&mut self) -> Option<Self::Item> {
        if self.round.is_empty() {
            self.round = self.round();
        }
        let event = self.round.pop()?;
        Some((event, self.random.between(3000, 7000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_events_again_and_each_kind_once_in_a_round() {
        let events = |seed| Events::new(seed).take(16).collect::<Vec<_>>();
        assert_eq!(events(7), events(7));
        assert_ne!(events(7), events(8));
        for round in events(7).chunks(8) {
            let kinds: std::collections::HashSet<_> = round
                .iter()
                .map(|(event, _)| std::mem::discriminant(event))
                .collect();
            assert_eq!(kinds.len(), 8);
        }
    }
}
