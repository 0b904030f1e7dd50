//! The history of events, and which trouble of a client each explains. docs/scaling.md describes these cases;
//! trouble that no event explains is a fault of the server.

use std::{
    fmt,
    sync::Mutex,
    time::{Duration, Instant},
};

/// How long after its end an event may still have an effect.
const FELT: Duration = Duration::from_secs(3);

/// The same for tasks: one whose process was killed fails, or is continued elsewhere, within ten seconds.
const FELT_BY_TASKS: Duration = Duration::from_secs(12);

/// A kind of harm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Harm {
    /// A replica was killed.
    Killed,
    /// A replica ends in order.
    Ending,
    /// A replica is stopped.
    Stopped,
    /// Redis is down, or its connections were closed. It still has all its data when it is back.
    Redis,
    /// A master is down and another process takes its place, which may lack the last writes.
    Failover,
}

/// What a client gets instead of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trouble {
    /// The connection or the stream broke.
    Broken,
    /// The request was refused with this status, which means to try again.
    Refused(u16),
    /// The call's replica is gone, and the client is told to call again.
    Told,
    /// A request that needs Redis was answered with an error.
    Error(String),
    /// A task failed.
    Failed(String),
    /// A task failed, although another replica should have continued it.
    NotTakenOver(String),
    /// A task is not known any more.
    Forgotten(String),
    /// An update did not arrive.
    Missed,
    /// A call continued after it was cancelled.
    NotCancelled,
    /// A session that was ended can still be used.
    NotEnded,
    /// A session that was not ended cannot be used.
    NoSession,
    /// An answer that is never allowed.
    Odd(String),
    /// Nothing arrived for a long time.
    Hung,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken => write!(f, "the connection broke off"),
            Self::Refused(status) => write!(f, "refused with {status}"),
            Self::Told => write!(f, "told to call again"),
            Self::Error(error) => write!(f, "an error: {error}"),
            Self::Failed(why) => write!(f, "the task failed: {why}"),
            Self::NotTakenOver(why) => write!(f, "no replica went on with the task: {why}"),
            Self::Forgotten(why) => write!(f, "the task is unknown: {why}"),
            Self::Missed => write!(f, "an update did not come"),
            Self::NotCancelled => write!(f, "the call went on after it was cancelled"),
            Self::NotEnded => write!(f, "the session could be used after its end"),
            Self::NoSession => write!(f, "the session was unknown"),
            Self::Odd(what) => write!(f, "an odd answer: {what}"),
            Self::Hung => write!(f, "no answer in time"),
        }
    }
}

impl Trouble {
    /// The kinds of harm that explain it.
    fn causes(&self) -> &'static [Harm] {
        use Harm::{Ending, Failover, Killed, Redis, Stopped};
        match self {
            Self::Broken => &[Killed, Ending],
            Self::Refused(_) | Self::Missed => &[Killed, Ending, Stopped, Redis, Failover],
            Self::Told => &[Killed, Ending, Stopped],
            // A replica that was stopped itself is late with what it waits for.
            Self::Error(_) => &[Redis, Failover, Stopped],
            Self::Failed(_) => &[Killed, Ending, Stopped, Failover],
            Self::NotTakenOver(_) | Self::Forgotten(_) | Self::NoSession => &[Failover],
            Self::NotCancelled => &[Killed, Stopped, Redis, Failover],
            Self::NotEnded => &[Stopped, Redis, Failover],
            Self::Odd(_) | Self::Hung => &[],
        }
    }

    fn felt(&self) -> Duration {
        match self {
            Self::Failed(_) | Self::NotTakenOver(_) | Self::Forgotten(_) => FELT_BY_TASKS,
            _ => FELT,
        }
    }
}

struct Span {
    harm: Harm,
    to: Option<Instant>,
}

/// All events of a run.
#[derive(Default)]
pub(super) struct History(Mutex<Vec<Span>>);

/// An event that has not ended yet.
#[derive(Clone, Copy)]
pub(super) struct Ongoing(usize);

impl History {
    pub(super) fn begin(&self, harm: Harm) -> Ongoing {
        let mut spans = self.0.lock().expect("nothing panics with it");
        spans.push(Span { harm, to: None });
        Ongoing(spans.len() - 1)
    }

    pub(super) fn end(&self, ongoing: Ongoing) {
        let mut spans = self.0.lock().expect("nothing panics with it");
        spans[ongoing.0].to = Some(Instant::now());
    }

    /// Whether an event explains trouble with a request that began at this time.
    pub(super) fn explains(&self, trouble: &Trouble, began: Instant) -> bool {
        let felt = trouble.felt();
        let spans = self.0.lock().expect("nothing panics with it");
        spans.iter().any(|span| {
            trouble.causes().contains(&span.harm) && span.to.is_none_or(|to| to + felt >= began)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trouble_is_explained_by_what_went_on_meanwhile_alone() {
        let history = History::default();
        let began = Instant::now();
        assert!(!history.explains(&Trouble::Broken, began));
        let redis = history.begin(Harm::Redis);
        assert!(history.explains(&Trouble::Refused(503), began));
        assert!(!history.explains(&Trouble::Broken, began));
        history.end(redis);
        assert!(history.explains(&Trouble::Refused(503), began));
        let later = Instant::now() + Duration::from_mins(1);
        assert!(!history.explains(&Trouble::Refused(503), later));
        history.begin(Harm::Killed);
        assert!(history.explains(&Trouble::Broken, later));
        assert!(!history.explains(&Trouble::Hung, later));
    }
}
