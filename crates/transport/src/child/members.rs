//! Who of a process group is still running, from the kernel's table.
//!
//! A signal can be sent to a zombie, so that signals alone cannot tell a group whose last members
//! wait to be reaped by a slow, or absent, first process of a container from one that still runs.

use std::fs;

use rustix::process::Pid;

/// Whether some process of the group runs. `None` where the table cannot be read.
pub(super) fn is_running(group: u32) -> Option<bool> {
    let mut statuses = processes()?.filter_map(status);
    Some(statuses.any(|status| running_in(&status) == Some(group)))
}

/// All processes. `None` where the table cannot be read.
pub(super) fn processes() -> Option<impl Iterator<Item = Pid>> {
    let entries = fs::read_dir("/proc").ok()?.flatten();
    Some(entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)))
}

/// The group of a process that runs.
pub(super) fn group_of(process: Pid) -> Option<u32> {
    running_in(&status(process)?)
}

fn status(process: Pid) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()
}

/// Reads the group from `pid (name) state parent group …`, where the name may hold anything, even
/// `)`. `None` if the process has ended.
fn running_in(status: &[u8]) -> Option<u32> {
    let after_name = status.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(&status[after_name..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    if matches!(fields.next()?, "Z" | "X" | "x") {
        return None;
    }
    fields.nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zombies_are_in_no_group() {
        let group = |status: &str| running_in(status.as_bytes());
        assert_eq!(group("50 (a) S 1 42 42 0 -1"), Some(42));
        assert_eq!(group("50 (a) b) S 1 42 42 0 -1"), Some(42));
        assert_eq!(group("50 (a) Z 1 42 42 0 -1"), None);
        assert_eq!(group("50 (a) S 42 43 42 0 -1"), Some(43));
        assert_eq!(group("50 (a"), None);
    }

    #[test]
    fn this_process_runs() {
        let own = rustix::process::getpgrp()
            .as_raw_nonzero()
            .get()
            .unsigned_abs();
        assert_eq!(is_running(own), Some(true));
        assert_eq!(group_of(rustix::process::getpid()), Some(own));
    }
}
