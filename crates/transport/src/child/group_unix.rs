//! A child and its descendants, as a process group.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, kill_process_group,
    test_kill_process_group, waitid, waitpgid, waitpid,
};

/// The process group of one child, named by its leader.
///
/// The leader is not reaped while it matters: a process that has exited but was not reaped keeps
/// its number, and so no stranger can be hit by a signal meant for the group.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
}

impl Group {
    #[expect(
        clippy::needless_pass_by_value,
        reason = "from here on only the group may reap it"
    )]
    pub(super) fn of(child: Child) -> io::Result<Self> {
        let leader = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        Ok(Self {
            leader: leader.ok_or(io::ErrorKind::InvalidData)?,
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the leader has exited, and leaves it to be reaped. `None` if its status is
    /// lost because this process lets the kernel reap.
    pub(super) fn wait(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(self.leader), options) {
                Ok(status) => return status.as_ref().and_then(exit_status),
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// Reaps the leader, which must have exited.
    pub(super) fn reap(&self) {
        while let Err(Errno::INTR) = waitpid(Some(self.leader), WaitOptions::empty()) {}
    }

    /// Whether the group has no process left that we could signal. Called after the reaping; while
    /// a process is left, the group's number stays taken.
    pub(super) fn is_gone(&self) -> bool {
        // Orphans come to us when we are their container's first process, or a subreaper.
        while let Ok(Some(_)) = waitpgid(self.leader, WaitOptions::NOHANG) {}
        test_kill_process_group(self.leader).is_err() || !self.is_anyone_running()
    }

    #[cfg(target_os = "linux")]
    fn is_anyone_running(&self) -> bool {
        super::members::is_running(self.id()).unwrap_or(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn is_anyone_running(&self) -> bool {
        true
    }

    /// Asks all of the group to end.
    pub(super) fn terminate(&self) {
        // Fails only when the group has no process left.
        let _ = kill_process_group(self.leader, Signal::TERM);
    }

    /// Ends all of the group.
    pub(super) fn kill(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }
}

fn exit_status(status: &WaitIdStatus) -> Option<ExitStatus> {
    // The raw form of wait(2): the exit code in the second byte, or the signal in the first.
    let code = status.exit_status().map(|code| (code & 0xff) << 8);
    code.or(status.terminating_signal())
        .map(ExitStatus::from_raw)
}
