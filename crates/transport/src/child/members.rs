//! The running processes of a process group.
//!
//! A signal can be sent to a zombie, so that signals alone cannot tell a group whose last members
//! wait to be reaped by a slow, or absent, first process of a container from one that still runs.

use std::fs;

/// Whether some process of the group runs. `None` where the table cannot be read.
pub(super) fn is_running(group: u32) -> Option<bool> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut statuses = processes.filter_map(|process| {
        let name = process.file_name();
        let is_process = name.to_str()?.bytes().all(|byte| byte.is_ascii_digit());
        is_process.then(|| fs::read(process.path().join("stat")).ok())?
    });
    Some(statuses.any(|status| is_running_member(&status, group) == Some(true)))
}

/// Reads `pid (name) state parent group …`, where the name may hold anything, even `)`.
fn is_running_member(status: &[u8], group: u32) -> Option<bool> {
    let after_name = status.iter().rposition(|byte| *byte == b')')? + 1;
    let rest = std::str::from_utf8(&status[after_name..]).ok()?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let its_group: u32 = fields.nth(1)?.parse().ok()?;
    Some(its_group == group && !matches!(state, "Z" | "X" | "x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zombies_and_strangers_do_not_count() {
        let is_member = |status: &str| is_running_member(status.as_bytes(), 42);
        assert_eq!(is_member("50 (a) S 1 42 42 0 -1"), Some(true));
        assert_eq!(is_member("50 (a) b) S 1 42 42 0 -1"), Some(true));
        assert_eq!(is_member("50 (a) Z 1 42 42 0 -1"), Some(false));
        assert_eq!(is_member("50 (a) S 42 43 42 0 -1"), Some(false));
        assert_eq!(is_member("50 (a"), None);
    }

    #[test]
    fn this_process_runs() {
        let own = rustix::process::getpgrp()
            .as_raw_nonzero()
            .get()
            .unsigned_abs();
        assert_eq!(is_running(own), Some(true));
    }
}
