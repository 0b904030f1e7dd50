//! A mark in the environment of a child, by which processes are found that have left its group.
//!
//! A process that calls `setsid`, as daemons do, is in another group and soon has another parent. It
//! still has the environment that it was started with, which Linux shows in `/proc`. Other systems
//! do not show it reliably, so there the group is all that is known.

use std::process::Command;

/// The variable. Its value is a list of marks, separated by spaces: if this process is itself a
/// child with a mark, what it starts belongs to both.
pub(super) const VARIABLE: &str = "TURNBUCKLE_SERVER_RUN";

/// The mark of one child. It is different for each.
#[derive(Clone, Debug)]
pub(super) struct RunMark(String);

impl RunMark {
    pub(super) fn new() -> Self {
        let number = turnbuckle_base::jitter::random();
        Self(format!("{:x}-{number:016x}", std::process::id()))
    }

    #[cfg(unix)]
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Marks what this command starts, where marks can be found again.
    pub(super) fn put_on(&self, command: &mut Command) {
        if !cfg!(target_os = "linux") {
            return;
        }
        let mut marks = std::env::var_os(VARIABLE).unwrap_or_default();
        if !marks.is_empty() {
            marks.push(" ");
        }
        marks.push(&self.0);
        command.env(VARIABLE, marks);
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;

    use rustix::io::Errno;
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

    use super::super::members;
    use super::{RunMark, VARIABLE};

    impl RunMark {
        /// Whether some process with this mark runs outside of the group.
        pub(in super::super) fn is_outside(&self, group: u32) -> bool {
            self.outside(group).next().is_some()
        }

        /// Sends a signal to all processes with this mark outside of the group, which has had it.
        pub(in super::super) fn signal_outside(&self, group: u32, signal: Signal) {
            for id in self.outside(group) {
                self.signal(id, signal);
            }
        }

        fn outside(&self, group: u32) -> impl Iterator<Item = Pid> {
            let processes = members::processes().into_iter().flatten();
            processes.filter(move |id| self.is_on(*id) && members::group_of(*id) != Some(group))
        }

        fn signal(&self, id: Pid, signal: Signal) {
            match pidfd_open(id, PidfdFlags::empty()) {
                // The process may have ended since it was found, and its number may have been given
                // to another. A process that has the mark now is ours. If it is not the one that the
                // descriptor is for, that one has ended, and nothing is signalled.
                Ok(process) if self.is_on(id) => {
                    let _ = pidfd_send_signal(process, signal);
                }
                // Linux before 5.3.
                Err(Errno::NOSYS) => {
                    let _ = kill_process(id, signal);
                }
                _ => {}
            }
        }

        /// Whether a process was started with this mark. Zombies have no environment.
        fn is_on(&self, id: Pid) -> bool {
            let path = format!("/proc/{}/environ", id.as_raw_nonzero());
            // Those of other users cannot be read, nor signalled.
            fs::read(path).is_ok_and(|environment| self.is_in(&environment))
        }

        fn is_in(&self, environment: &[u8]) -> bool {
            let variables = environment.split(|byte| *byte == 0);
            let values = variables.filter_map(|variable| {
                let value = variable.strip_prefix(VARIABLE.as_bytes())?;
                value.strip_prefix(b"=")
            });
            values
                .flat_map(|value| value.split(|byte| *byte == b' '))
                .any(|mark| mark == self.as_str().as_bytes())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_mark_is_one_word_of_the_variable() {
            let mark = RunMark("1-a".to_owned());
            for (environment, is_marked) in [
                (&b"A=1\0TURNBUCKLE_SERVER_RUN=1-a\0B=2\0"[..], true),
                (b"TURNBUCKLE_SERVER_RUN=0-b 1-a 2-c\0", true),
                (b"TURNBUCKLE_SERVER_RUN=1-ab\0", false),
                (b"TURNBUCKLE_SERVER_RUNS=1-a\0", false),
                (b"A=TURNBUCKLE_SERVER_RUN=1-a\0", false),
                (b"", false),
            ] {
                assert_eq!(mark.is_in(environment), is_marked, "{environment:?}");
            }
        }
    }
}
