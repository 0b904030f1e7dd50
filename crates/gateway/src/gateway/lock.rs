//! The lock file of a running gateway.

use std::path::Path;

use super::LiveGateway;
use crate::lock::{Lock, LockDifference, LockError, LockKind, LockMode};

impl LiveGateway {
    /// How tools, prompts and instructions that differ from the lock file are treated.
    pub fn lock_mode(&self) -> LockMode {
        self.0.core.lock().map_or(LockMode::Off, Lock::mode)
    }

    /// Sets how tools, prompts and instructions that differ from the lock file are treated.
    ///
    /// # Errors
    /// [`LockError::Off`] if the gateway was opened without a lock file.
    pub fn set_lock_mode(&self, mode: LockMode) -> Result<(), LockError> {
        let lock = self.0.core.lock().ok_or(LockError::Off)?;
        if lock.mode() != mode {
            lock.set_mode(mode);
            self.0.core.observe_all();
            self.0.callers.observe_all();
        }
        Ok(())
    }

    /// The path of the lock file, if there is one.
    pub fn lock_path(&self) -> Option<&Path> {
        self.0.core.lock().map(Lock::path)
    }

    /// All differences from the lock file, of servers that have answered.
    pub fn lock_differences(&self) -> Vec<LockDifference> {
        self.0
            .core
            .lock()
            .map(Lock::differences)
            .unwrap_or_default()
    }

    /// Approves what servers currently offer and writes the lock file. It approves one tool or
    /// prompt of a server, by the server's own name for it, or everything of a server, or
    /// everything of all servers. Returns the number of differences that were approved.
    ///
    /// # Errors
    /// [`LockError`] if there is no lock file, or it cannot be written.
    pub fn approve(
        &self,
        server: Option<&str>,
        kind: Option<LockKind>,
        name: Option<&str>,
    ) -> Result<usize, LockError> {
        let lock = self.0.core.lock().ok_or(LockError::Off)?;
        let approved = lock.approve(server, kind, name)?;
        self.reroute();
        Ok(approved)
    }

    /// Pins what all servers currently offer, and overwrites the lock file. Servers that this
    /// gateway does not have are removed from the file, unless the lock is
    /// [`keeping_other_servers`](crate::lock::Lock::keeping_other_servers). A server that did not answer keeps its
    /// entry.
    ///
    /// # Errors
    /// [`LockError`] if there is no lock file, or it cannot be written.
    pub fn pin(&self) -> Result<(), LockError> {
        let lock = self.0.core.lock().ok_or(LockError::Off)?;
        let members = self.0.core.members();
        let mut known: Vec<String> = members.iter().map(|member| member.id.to_string()).collect();
        known.extend(self.0.callers.names());
        lock.pin_all(&known)?;
        self.reroute();
        Ok(())
    }

    /// Reads the lock file again, in case another program has written it. Returns whether it changed.
    ///
    /// # Errors
    /// [`LockError`] if the file cannot be read. The earlier approvals stay valid.
    pub fn reload_lock(&self) -> Result<bool, LockError> {
        let Some(lock) = self.0.core.lock() else {
            return Ok(false);
        };
        let is_other = lock.reload()?;
        if is_other {
            self.reroute();
        }
        Ok(is_other)
    }

    fn reroute(&self) {
        self.0.core.reroute();
        self.0.callers.reroute();
    }
}
