//! The session or process that a task runs in, and for how long the task keeps it.

use std::{sync::Arc, time::Duration};

use tokio::time::Instant;
use turnbuckle_base::lock::Mutex;

use crate::upstream::{Lane, LaneUse, Member, SpareUse};

/// How long the process of a completed task is kept, so that the client can read the result.
const KEPT_AFTER_END: Duration = Duration::from_mins(1);

/// How long a process counts as in use for a task that its client does not ask about. Afterwards it
/// may be closed in favour of another.
const IN_USE_UNASKED: Duration = Duration::from_mins(10);

/// How long a process is kept for a task that its client does not ask about.
const KEPT_UNASKED: Duration = Duration::from_hours(1);

/// The session that a task runs in.
pub(super) enum TaskLane {
    /// The session stays open while the task is tracked.
    Session(Arc<Lane>),
    /// A process of the server. There are few processes, so it is kept only while the task needs
    /// it. It counts as in use and is not closed in favour of another.
    Process(LaneUse),
    /// The process of a task that is over, or that its client no longer asks about. It may be
    /// closed in favour of another.
    Spare(SpareUse),
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

/// The session or process that a task holds.
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

    /// Whether the process counts as in use.
    fn is_in_use(&self, now: Instant) -> bool {
        self.over.is_none() && now.saturating_duration_since(self.asked) < IN_USE_UNASKED
    }

    fn note(&mut self, is_over: bool, now: Instant) {
        self.asked = now;
        if is_over {
            self.over.get_or_insert(now);
        }
    }

    /// Changes whether the process may be closed in favour of another. Returns the hold that is no
    /// longer needed.
    #[must_use]
    fn settle(&mut self, now: Instant) -> Option<TaskLane> {
        let is_in_use = self.is_in_use(now);
        let settled = match self.lane.as_ref()? {
            TaskLane::Process(lane) if !is_in_use => TaskLane::Spare(lane.enter_spare()),
            TaskLane::Spare(spare) if is_in_use => TaskLane::Process(spare.lane()?.enter()),
            _ => return None,
        };
        self.lane.replace(settled)
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

    /// Records that the client has asked about the task.
    pub(super) fn note(&self, is_over: bool, now: Instant) {
        let let_go = {
            let mut held = self.0.lock();
            held.note(is_over, now);
            held.settle(now)
        };
        drop(let_go);
    }

    /// Releases a process that the task no longer needs.
    pub(super) fn tidy(&self, now: Instant) {
        let let_go = {
            let held = &mut *self.0.lock();
            let settled = held.settle(now);
            let is_needed = held.needs_process(now);
            let ended = held.lane.take_if(|lane| match lane {
                TaskLane::Session(lane) => lane.is_over(),
                TaskLane::Process(lane) => lane.is_over() || !is_needed,
                TaskLane::Spare(spare) => spare.lane().is_none() || !is_needed,
            });
            (settled, ended)
        };
        // Dropping this may end the process.
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
        assert!(held.is_in_use(after(9)));
        assert!(!held.is_in_use(after(10)), "it makes room for others");
        assert!(held.needs_process(after(59)));
        assert!(!held.needs_process(after(60)), "nobody asks");
        held.note(false, after(50));
        assert!(held.is_in_use(after(59)));
        assert!(held.needs_process(after(109)));
        held.note(true, after(70));
        assert!(held.needs_process(after(70)), "its result may be read");
        assert!(!held.is_in_use(after(70)), "it makes room for others");
        // Asking again does not extend the time.
        held.note(true, after(71));
        assert!(!held.needs_process(after(71)));
    }
}
