//! A child and its descendants, as a process group.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, WaitOptions, kill_process_group,
    test_kill_process_group, waitid, waitpgid, waitpid,
};

/// The process group of one child, identified by its leader.
///
/// The leader is not reaped as long as signals may be sent: a process that has exited but was not
/// reaped keeps its id, so a signal for the group cannot reach an unrelated process.
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

    /// Waits until the leader has exited, without reaping it. Returns `None` if its status is lost
    /// because this process lets the kernel reap its children.
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

    /// Whether no process of the group is left that could be signalled. Called after the leader was
    /// reaped; the id of the group stays taken while one of its processes is left.
    pub(super) fn is_gone(&self) -> bool {
        // Orphans become our children if we are the first process of a container, or a subreaper.
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

    /// Sends SIGTERM to the whole group.
    pub(super) fn terminate(&self) {
        // This only fails if the group has no process left.
        let _ = kill_process_group(self.leader, Signal::TERM);
    }

    /// Sends SIGKILL to the whole group.
    pub(super) fn kill(&self) {
        let _ = kill_process_group(self.leader, Signal::KILL);
    }
}

fn exit_status(status: &WaitIdStatus) -> Option<ExitStatus> {
    // The raw status of wait(2): the exit code in the second byte, or the signal in the first.
    let code = status.exit_status().map(|code| (code & 0xff) << 8);
    code.or(status.terminating_signal())
        .map(ExitStatus::from_raw)
}
