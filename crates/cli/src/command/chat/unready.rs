//! Servers that are not ready, with the reason, for people and for programs.

use serde_json::{Value, json};
use turnbuckle::host::{FailureKind, Host, ServerState, ServerStatus};
use turnbuckle_command_line::{control::one_line, style::Style};

use crate::show::tell;

/// How many lines of stderr people see: the reason is usually in the last ones.
const MAX_STDERR: usize = 5;

/// A server that is not ready.
pub(super) struct Unready {
    id: String,
    /// Its current state.
    state: &'static str,
    /// The reason.
    reason: String,
    /// The last lines of its standard error.
    stderr: Vec<String>,
    hint: Option<String>,
}

/// The servers of a host that should be ready and are not.
pub(super) fn find(host: &Host) -> Vec<Unready> {
    host.servers().iter().filter_map(Unready::new).collect()
}

impl Unready {
    /// Creates the report; `None` if the server is fine.
    pub(super) fn new(server: &ServerStatus) -> Option<Self> {
        let state = match server.state {
            ServerState::Starting => "starting",
            ServerState::Restarting { .. } => "restarting",
            ServerState::Failed { .. } => "failed",
            _ => return None,
        };
        let id = server.id.as_str().to_owned();
        let failure = server.state.failure();
        let is_refused = failure.is_some_and(|failure| failure.kind == FailureKind::NotAllowed);
        Some(Self {
            hint: is_refused.then(|| format!("pass --allow start:{id}, or allow it when asked")),
            reason: failure.map_or_else(
                || "it has not answered yet".to_owned(),
                |failure| failure.reason.clone(),
            ),
            stderr: failure.map_or_else(Vec::new, |failure| failure.stderr.clone()),
            id,
            state,
        })
    }

    /// Whether the server is still starting and has not failed.
    pub(super) fn is_starting(&self) -> bool {
        self.state == "starting"
    }

    /// Prints it for a user.
    pub(super) fn tell(&self) {
        let (id, reason) = (one_line(&self.id), one_line(&self.reason));
        let said = match self.state {
            "failed" => format!("server `{id}` failed: {reason}"),
            state => format!("server `{id}` is {state}: {reason}"),
        };
        tell(&Style::Warn.err(&said));
        for line in self.stderr_lines() {
            tell(&Style::Dim.err(&line));
        }
        if let Some(hint) = &self.hint {
            tell(&format!("  hint: {}", one_line(hint)));
        }
    }

    /// The last lines of its standard error, as they are shown.
    pub(super) fn stderr_lines(&self) -> impl Iterator<Item = String> {
        let first = self.stderr.len().saturating_sub(MAX_STDERR);
        let lines = self.stderr[first..].iter();
        lines.map(|line| format!("  stderr: {}", one_line(line)))
    }

    /// The event for a program.
    pub(super) fn event(&self) -> Value {
        let mut event = json!({
            "event": "server",
            "server": self.id,
            "state": self.state,
            "reason": self.reason,
            "stderr": self.stderr,
        });
        if let Some(hint) = &self.hint {
            event["hint"] = json!(hint);
        }
        event
    }
}
