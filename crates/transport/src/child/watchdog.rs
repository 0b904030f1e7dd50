//! A process that outlives this one and ends its children.
//!
//! Threads end with their process: if a program exits right after it drops a child, panics in
//! `main` or is killed, nothing in it can end the child's group. So a small shell waits beside each
//! child for the end of its own input, which comes when this process ends, however it ends, and
//! then takes the same steps that this process would have taken.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::group::Group;
use super::run_mark::VARIABLE;

/// Ends the group named by `$1` and what has the mark `$3` after `$2` seconds, and kills them after
/// as many again; unless it is told a word first.
///
/// Where there is no `/proc` with the environment of processes, no file has the mark. What is in the
/// group has had the signal, and is not sent it twice: the third field after the name is its group.
const SCRIPT: &str = r#"
read -r word && exit 0
signal() {
  kill -s "$1" -- "-$2" 2>/dev/null
  sent=$?
  for file in $(grep -lsF -e "$3" /proc/[0-9]*/environ); do
    folder=${file%/environ}
    read -r status 2>/dev/null <"$folder/stat" || continue
    set -- "$1" "$2" "$3" ${status##*) }
    if [ "$6" != "$2" ] && kill -s "$1" "${folder#/proc/}" 2>/dev/null; then sent=0; fi
  done
  return "$sent"
}
sleep "$2"
signal TERM "$1" "$3" || exit 0
sleep "$2"
signal KILL "$1" "$3"
"#;

/// The shell that waits.
#[derive(Debug)]
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Sets one on a group. `None` where there is no shell: then only the end of its input tells
    /// a child that we are gone.
    pub(super) fn over(group: &Group, grace: Duration) -> Option<Self> {
        Command::new("/bin/sh")
            .args(["-c", SCRIPT, "mcp-watchdog"])
            .arg(group.id().to_string())
            .arg(format!("{:.3}", grace.as_secs_f64()))
            .arg(group.mark().as_str())
            // If this process is a child with a mark, its watchdog outlives it and is not ended.
            .env_remove(VARIABLE)
            // Ctrl-C at a terminal is for us, not for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
            .map(Self)
    }

    /// The group has ended: there is nothing to watch.
    pub(super) fn dismiss(mut self) {
        if let Some(mut stdin) = self.0.stdin.take() {
            let _ = stdin.write_all(b"done\n");
        }
        let _ = self.0.wait();
    }
}
