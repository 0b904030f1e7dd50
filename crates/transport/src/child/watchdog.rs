//! A process that outlives this one and ends its children.
//!
//! Threads end with their process: if a program exits right after it drops a child, panics in `main` or
//! is killed, it cannot end the child's group. So a small shell is started with each child. It waits
//! for the end of its own input, which comes when this process ends in any way, and then takes the
//! steps that this process would have taken.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Ends the group `$1` after `$2` seconds, and kills it after `$2` more seconds, unless it reads a line
/// first.
const SCRIPT: &str = r#"
read -r word && exit 0
sleep "$2"
kill -s TERM -- "-$1" 2>/dev/null || exit 0
sleep "$2"
kill -s KILL -- "-$1" 2>/dev/null
"#;

/// The shell that waits.
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Starts a watchdog for a group. Returns `None` if there is no shell: then only the end of its
    /// input tells a child that this process has ended.
    pub(super) fn over(group: u32, grace: Duration) -> Option<Self> {
        Command::new("/bin/sh")
            .args(["-c", SCRIPT, "mcp-watchdog"])
            .arg(group.to_string())
            .arg(format!("{:.3}", grace.as_secs_f64()))
            // Ctrl-C in a terminal must not reach the watchdog.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
            .map(Self)
    }

    /// Ends the watchdog, because the group has ended.
    pub(super) fn dismiss(mut self) {
        if let Some(mut stdin) = self.0.stdin.take() {
            let _ = stdin.write_all(b"done\n");
        }
        let _ = self.0.wait();
    }
}
