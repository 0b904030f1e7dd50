//! Ends a child step by step: close its input, SIGTERM, SIGKILL, with a grace period between the steps.

use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::process::Process;

/// 1 s: a killed process exits as soon as the kernel gets to it. A process that still runs then hangs
/// in a system call or belongs to another user, and waiting longer would not help.
const KILL_WAIT: Duration = Duration::from_secs(1);

/// 1 ms, doubled up to 16 ms: how often to check whether grandchildren have exited, because there is no
/// event to wait for.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(16);

/// A day: a longer grace period means "without limit", and might overflow the clock.
const LONGEST_GRACE: Duration = Duration::from_hours(24);

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The exit status, if the process exited and the system reported the status.
    pub status: Option<ExitStatus>,
    /// The step that ended the process.
    pub by: EndedBy,
}

/// The step that ended a child and its group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndedBy {
    /// The process had already exited, or exited when its input was closed.
    Itself,
    /// SIGTERM ended the process.
    Terminate,
    /// SIGKILL ended the process.
    Kill,
    /// The process still runs: it belongs to another user, or hangs in the kernel.
    Nothing,
}

/// Starts to end the process, once, without waiting for it.
pub(super) fn begin(process: &Arc<Process>, grace: Duration) {
    if !process.begin_ending() {
        return;
    }
    let shared = process.clone();
    let name = format!("mcp-end-{}", process.group.id());
    // A thread instead of a task, because it must work while the runtime shuts down.
    let started = thread::Builder::new()
        .name(name)
        .spawn(move || end(&shared, grace));
    if started.is_err() {
        // Without a thread there is no grace period; the watching thread reaps the child.
        process.close_stdin();
        process.group.kill();
        #[cfg(unix)]
        process.dismiss_guard();
        process.set_ended(Ended {
            status: process.exit_status(),
            by: EndedBy::Kill,
        });
    }
}

fn end(process: &Process, grace: Duration) {
    process.close_stdin();
    let by = if is_gone_within(process, grace) {
        EndedBy::Itself
    } else {
        process.group.terminate();
        if is_gone_within(process, grace) {
            EndedBy::Terminate
        } else {
            process.group.kill();
            // Every process of the group was killed, so it is enough to wait for the exit of the child.
            if process.is_reaped_by(after(KILL_WAIT)) {
                EndedBy::Kill
            } else {
                EndedBy::Nothing
            }
        }
    };
    #[cfg(unix)]
    process.dismiss_guard();
    process.set_ended(Ended {
        status: process.exit_status(),
        by,
    });
}

/// Whether the child and its group exit within `time`.
fn is_gone_within(process: &Process, time: Duration) -> bool {
    let deadline = after(time);
    if !process.is_reaped_by(deadline) {
        return false;
    }
    let mut pause = FIRST_LOOK;
    while !process.group.is_gone() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LAST_LOOK);
    }
    true
}

fn after(time: Duration) -> Instant {
    Instant::now() + time.min(LONGEST_GRACE)
}
