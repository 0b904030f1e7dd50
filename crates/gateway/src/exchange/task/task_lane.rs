//! The session or process that a task runs in, and for how long the task keeps it.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;

use crate::upstream::{Lane, LaneUse, Member};

/// How long the process of a task that is over is kept for it, so that the client can read the result.
const KEPT_AFTER_END: Duration = Duration::from_mins(1);

/// How long a process is kept for a task that its client does not ask about.
const KEPT_UNASKED: Duration = Duration::from_hours(1);

/// The session that a task runs in.
pub(super) enum TaskLane {
    /// It stays open while the task is known.
    Session(Arc<Lane>),
    /// A process of the server. There are few, so that it is kept while the task needs it, and counts as
    /// used: it makes no room for others.
    Process(LaneUse),
}

impl TaskLane {
    pub(super) fn of(member: &Member, lane: &Arc<Lane>) -> Self {
        if member.plan.spec.is_process() {
            Self::Process(lane.enter())
        } else {
            Self::Session(Arc::clone(lane))
        }
    }
}

/// The session that a task keeps open.
pub(super) struct HeldLane(Mutex<Held>);

struct Held {
    lane: Option<TaskLane>,
    /// When the client last asked about the task.
    asked: Instant,
    /// When the task was first seen to be over.
    over: Option<Instant>,
}

impl Held {
    /// Whether the task still needs its process.
    fn needs_process(&self, now: Instant) -> bool {
        let is_recent = |since: Instant, limit| now.saturating_duration_since(since) < limit;
        let is_open = self.over.is_none_or(|over| is_recent(over, KEPT_AFTER_END));
        is_open && is_recent(self.asked, KEPT_UNASKED)
    }

    fn note(&mut self, is_over: bool, now: Instant) {
        self.asked = now;
        if is_over {
            self.over.get_or_insert(now);
        }
    }
}

impl HeldLane {
    pub(super) fn new(lane: Option<TaskLane>) -> Self {
        Self(Mutex::new(Held {
            lane,
            asked: Instant::now(),
            over: None,
        }))
    }

    /// Notes that the client has asked about the task.
    pub(super) fn note(&self, is_over: bool, now: Instant) {
        self.0.lock().note(is_over, now);
    }

    /// Lets go of a process that the task does not need any more.
    pub(super) fn tidy(&self, now: Instant) {
        let let_go = {
            let held = &mut *self.0.lock();
            let is_needed = held.needs_process(now);
            held.lane.take_if(|lane| match lane {
                TaskLane::Session(lane) => lane.is_over(),
                TaskLane::Process(lane) => lane.is_over() || !is_needed,
            })
        };
        // The process may end here.
        drop(let_go);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_kept_while_its_task_runs_and_is_asked_about() {
        let start = Instant::now();
        let after = |minutes| start + Duration::from_mins(minutes);
        let mut held = Held {
            lane: None,
            asked: start,
            over: None,
        };
        assert!(held.needs_process(after(59)));
        assert!(!held.needs_process(after(60)), "nobody asks");
        held.note(false, after(50));
        assert!(held.needs_process(after(109)));
        held.note(true, after(70));
        assert!(held.needs_process(after(70)), "its result may be read");
        // To ask again does not keep it for longer.
        held.note(true, after(71));
        assert!(!held.needs_process(after(71)));
    }
}
