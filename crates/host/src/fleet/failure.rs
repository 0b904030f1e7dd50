//! `ServerFailure`: why a server is not available.

use std::{error::Error, fmt, sync::Arc};

use turnbuckle_base::error_chain::causes;
use turnbuckle_client::{CallError, ConnectError, Ending};

/// How many lines of standard error a failure keeps. The last lines usually hold the reason.
const KEPT_LINES: usize = 20;

/// The kind of a failure. It tells what can be done about it and whether the host retries by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureKind {
    /// The policy or the user did not allow the server to start. The host does not retry;
    /// [`Host::start`](crate::Host::start) and calls ask again.
    NotAllowed,
    /// The entry of the server cannot be used, for example because a variable is not set. Correct
    /// the entry; [`Host::reload`](crate::Host::reload) tries again.
    Misconfigured,
    /// The server could not be started or reached, or did not answer within its start timeout. The
    /// host retries after a pause, or for a server that is started on demand, when it is next
    /// needed.
    NotStarted,
    /// The server was connected, and then its process ended or the connection broke. The host
    /// restarts it after a pause, or for a server that is started on demand, when it is next
    /// needed.
    Ended,
    /// The server is disabled or was removed. The host does not retry.
    Removed,
}

/// Why a server is not available: the kind, the reason, and the last lines that its process
/// printed. You find it in [`HostError::Unavailable`](crate::HostError::Unavailable) and
/// [`ServerState::failure`](crate::ServerState::failure).
///
/// Its `Display` is the reason, followed by the lines of standard error.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// The reason as a sentence, including its causes.
    pub reason: String,
    /// The last lines of its standard error, at most 20. Empty for a server without a process.
    pub stderr: Vec<String>,
}

impl ServerFailure {
    pub(crate) fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            stderr: Vec::new(),
        }
    }

    /// Makes a failure of the kind [`Misconfigured`](FailureKind::Misconfigured), with this reason.
    /// The host does not retry by itself.
    pub fn misconfigured(reason: impl Into<String>) -> Self {
        Self::new(FailureKind::Misconfigured, reason)
    }

    /// The failure for a server that could not be connected to.
    pub(crate) fn connecting(error: &ConnectError) -> Self {
        let ending = match error {
            ConnectError::Ended { ending, .. }
            | ConnectError::TimedOut { ending, .. }
            | ConnectError::Refused { ending, .. } => Some(ending.clone()),
            _ => None,
        };
        let kind = match error {
            ConnectError::Misconfigured { .. } => FailureKind::Misconfigured,
            _ => FailureKind::NotStarted,
        };
        // The lines of standard error are kept separately.
        let reason = without_lines(&error.to_string()).to_owned();
        Self {
            stderr: ending.map(|ending| last_lines(&ending)).unwrap_or_default(),
            ..Self::new(kind, with_causes(reason, error))
        }
    }

    /// The failure for a server at a URL that was connected and can no longer be reached.
    pub(crate) fn unreachable(error: &CallError) -> Self {
        let reason = "it cannot be reached any more".to_owned();
        Self::new(FailureKind::Ended, with_causes(reason, error))
    }

    /// The failure for a connection that ended.
    pub(crate) fn ended(ending: &Arc<Ending>) -> Self {
        let bare = Ending::clone(ending);
        let mut reason = "the connection ended".to_owned();
        if let Some(failure) = &bare.failure {
            reason = format!("{reason}: {failure}");
        }
        if let Some(status) = bare.process.and_then(|process| process.status) {
            reason = format!("{reason}: its process ended with {status}");
        }
        Self {
            stderr: last_lines(ending),
            ..Self::new(FailureKind::Ended, reason)
        }
    }
}

/// A reason, followed by its causes.
fn with_causes(mut reason: String, error: &(dyn Error + 'static)) -> String {
    for cause in causes(error) {
        let text = cause.to_string();
        if !reason.contains(&text) {
            reason = format!("{reason}: {text}");
        }
    }
    reason
}

fn without_lines(text: &str) -> &str {
    text.split("; its standard error ended with:")
        .next()
        .unwrap_or(text)
}

fn last_lines(ending: &Ending) -> Vec<String> {
    let first = ending.stderr.len().saturating_sub(KEPT_LINES);
    ending.stderr[first..].to_vec()
}

impl fmt::Display for ServerFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if !self.stderr.is_empty() {
            f.write_str("; its standard error ended with:")?;
            for line in &self.stderr {
                write!(f, "\n  {line}")?;
            }
        }
        Ok(())
    }
}

impl Error for ServerFailure {}
