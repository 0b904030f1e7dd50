//! Keeps processors awake while short times are measured.

use std::process::{Child, Command, Stdio};

use crate::Result;

/// Work of the lowest priority on each processor, until this is dropped. An idle processor of a virtual machine
/// takes up to a millisecond until it runs again, which would distort short times.
pub(super) struct AwakeProcessors(Vec<Child>);

impl AwakeProcessors {
    pub(super) fn start() -> Result<Self> {
        let mut awake = Self(Vec::new());
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..processors {
            let child = Command::new("chrt")
                .args(["--idle", "0", "sh", "-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .map_err(|error| format!("`chrt` (Debian package util-linux): {error}"))?;
            awake.0.push(child);
        }
        Ok(awake)
    }
}

impl Drop for AwakeProcessors {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
