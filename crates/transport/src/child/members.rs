//! The running processes of a process group.
//!
//! Signals can be sent to zombies. So signals alone cannot distinguish a running group from one whose
//! last processes are zombies, because the first process of the container reaps slowly or is missing.

use std::fs;

/// Whether a process of the group runs. `None` if the process table cannot be read.
pub(super) fn is_running(group: u32) -> Option<bool> {
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut statuses = processes.filter_map(|process| {
        let name = process.file_name();
        let is_process = name.to_str()?.bytes().all(|byte| byte.is_ascii_digit());
        is_process.then(|| fs::read(process.path().join("stat")).ok())?
    });
    Some(statuses.any(|status| is_running_member(&status, group) == Some(true)))
}

/// Parses `pid (name) state parent group …`, where the name may contain anything, even `)`.
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
