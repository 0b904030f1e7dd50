//! How a connection ended.

use std::fmt;

use turnbuckle_transport::{Ended, StderrLog};

/// How many of the last lines of a process are kept: enough for a stack trace.
const KEPT_LINES: usize = 50;

/// How many of these lines an error message shows: the last ones, which usually contain the reason.
const SHOWN_LINES: usize = 10;

/// How a connection ended: which side ended it, and the exit and last output of the server's process.
/// Returned by [`Connection::closed`](crate::Connection::closed) and contained in
/// [`CallError::Closed`](crate::CallError::Closed).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Ending {
    /// How the server's process ended. `None` if the server is not a process, or if its process had not
    /// ended yet.
    pub process: Option<Ended>,
    /// The last lines of the process's standard error, 50 at most, if it was captured.
    pub stderr: Vec<String>,
    /// The failure of the transport, if there was one; `None` if one of the two sides closed the
    /// connection.
    pub failure: Option<String>,
}

impl Ending {
    /// The ending of a connection that failed.
    pub(crate) fn failed(failure: String) -> Self {
        Self {
            failure: Some(failure),
            ..Self::default()
        }
    }

    pub(crate) fn new(process: Option<Ended>, log: &StderrLog, failure: Option<String>) -> Self {
        let mut lines = log.lines();
        let stderr = lines.split_off(lines.len().saturating_sub(KEPT_LINES));
        let stderr = stderr.into_iter().map(|line| line.text).collect();
        Self {
            process,
            stderr,
            failure,
        }
    }
}

impl fmt::Display for Ending {
    /// Writes the known facts as the end of a sentence, or nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.failure {
            write!(f, "; {failure}")?;
        }
        if let Some(status) = self.process.and_then(|process| process.status) {
            write!(f, "; its process ended with {status}")?;
        }
        if self.stderr.is_empty() {
            return Ok(());
        }
        f.write_str("; its standard error ended with:")?;
        let first = self.stderr.len().saturating_sub(SHOWN_LINES);
        for line in &self.stderr[first..] {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}
