//! The running processes, from the kernel's table.

use std::fs;
use std::time::{Duration, Instant};

use crate::recorder::TIMEOUT;

/// An environment variable that identifies the descendants of one child.
pub(crate) const MARK: &str = "TURNBUCKLE_TEST_MARK";

/// Returns a mark that no other test uses.
pub(crate) fn mark(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

/// Returns the ids of running processes with this mark. Zombies have no environment and do not count.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        let environment = fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    })
    .collect()
}

/// Whether the process is neither running nor a zombie.
pub(crate) fn is_reaped(id: u32) -> bool {
    // Threads and zombies have a folder; a process that was reaped does not.
    !fs::exists(format!("/proc/{id}")).unwrap()
}

/// Waits for a condition by polling.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
