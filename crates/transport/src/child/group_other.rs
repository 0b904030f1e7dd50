//! A child on systems without process groups.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

use turnbuckle_base::lock::Mutex;

/// 20 ms: short enough that users do not notice, and long enough to cost nothing.
const POLL_EVERY: Duration = Duration::from_millis(20);

/// One child process.
#[derive(Debug)]
pub(super) struct Group {
    child: Mutex<Child>,
    id: u32,
}

impl Group {
    pub(super) fn of(child: Child) -> io::Result<Self> {
        Ok(Self {
            id: child.id(),
            child: Mutex::new(child),
        })
    }

    pub(super) fn id(&self) -> u32 {
        self.id
    }

    pub(super) fn wait(&self) -> Option<ExitStatus> {
        loop {
            match self.child.lock().try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) => {}
                Err(_) => return None,
            }
            thread::sleep(POLL_EVERY);
        }
    }

    pub(super) fn reap(&self) {
        let _ = self.child.lock().wait();
    }

    pub(super) fn is_gone(&self) -> bool {
        true
    }

    /// This system has no signal to ask a process to exit, so this kills it.
    pub(super) fn terminate(&self) {
        self.kill();
    }

    pub(super) fn kill(&self) {
        let _ = self.child.lock().kill();
    }
}
