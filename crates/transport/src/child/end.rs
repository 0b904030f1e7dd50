//! Ending a child in order: close its input, SIGTERM, SIGKILL, with a grace between.

use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::process::Process;

/// 1 s: a killed process is gone as soon as the kernel gets to it; one that is not by then hangs in
/// a system call or belongs to another user, and waiting longer would not help.
const KILL_WAIT: Duration = Duration::from_secs(1);

/// 1 ms, doubled up to 16 ms: how often to look whether grandchildren have gone, for whom there is
/// nothing to wait on.
const FIRST_LOOK: Duration = Duration::from_millis(1);
const LAST_LOOK: Duration = Duration::from_millis(16);

/// A day: a longer grace means "without limit" and may be more than the clock can hold.
const LONGEST_GRACE: Duration = Duration::from_hours(24);

/// How a child came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Its exit status, if it exited and the system told.
    pub status: Option<ExitStatus>,
    /// The step that ended the process.
    pub by: EndedBy,
}

/// How a child and its group were ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EndedBy {
    /// The process had exited already, or exited when its input was closed.
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
    // A thread and no task: it must do its work while the runtime is going away.
    let started = thread::Builder::new()
        .name(name)
        .spawn(move || end(&shared, grace));
    if started.is_err() {
        // No thread to wait in, so no grace; the watching thread reaps.
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
            // Every process of the group is killed, so only the exit of the child is awaited.
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

/// Whether the child and all of its group go within `time`.
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
