//! Timeouts and limits of a client.

use std::time::Duration;

use turnbuckle_protocol::LoggingLevel;
use turnbuckle_session::{
    DetectedRevision, Era,
    probe::{self, RevisionChoice},
    requests::{DEFAULT_TIMEOUT, Deadline, MAX_TOTAL_TIME},
};
use turnbuckle_transport::{DEFAULT_GRACE, KeepAlive, Limits};

use super::AskRates;

/// How long a connection may stay half open: time for the server to send its last messages after ours.
/// It is short, because the server's process gets a grace period of its own after that.
const LINGER: Duration = Duration::from_secs(1);

/// How often a server may ask in the middle of one call. A form with a page for each question stays
/// below the limit; a server that asks endlessly is stopped.
const MAX_ROUNDS: usize = 32;

/// What happens to a result that does not match its tool's output schema.
///
/// Tools that were never listed are listed when a result with structured content arrives, so that
/// their schemas are known. A result without structured content may break its schema too; for tools
/// that were never listed only [`Strict`](Self::Strict) detects it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputCheck {
    /// The call fails with [`CallError::OutputMismatch`](crate::CallError::OutputMismatch). The
    /// default.
    #[default]
    Refuse,
    /// Like [`Refuse`](Self::Refuse), but also for tools that were never listed: the tools are listed
    /// with the first result, whether it has structured content or not. This costs one request per
    /// connection.
    Strict,
    /// The call returns the result, and
    /// [`ToolOutput::output_mismatch`](crate::ToolOutput::output_mismatch) returns the problem. The
    /// problem is also logged.
    Warn,
    /// Results are not checked. Check the values yourself.
    Skip,
}

/// The settings of a client.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) aim: RevisionChoice,
    pub(crate) deadline: Duration,
    pub(crate) longest: Duration,
    pub(crate) probe_timeout: Duration,
    pub(crate) handshake_timeout: Duration,
    pub(crate) grace: Duration,
    pub(crate) limits: Limits,
    pub(crate) output: OutputCheck,
    /// How often a server may ask in the middle of one call.
    pub(crate) max_rounds: usize,
    /// The minimum severity of log messages to request from every server.
    pub(crate) log_level: Option<LoggingLevel>,
    /// Whether servers may create tasks for calls and for their own requests.
    pub(crate) tasks: TaskSupport,
    /// Whether and how servers are pinged.
    pub(crate) keep_alive: Option<KeepAlive>,
    /// How often each server may ask.
    pub(crate) ask_rates: AskRates,
}

/// Whether tasks are declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskSupport {
    /// In all revisions that have tasks.
    Declared,
    /// Never.
    Off,
}

/// The default limit on JSON values in a message: 400 Ki, about 32 MiB of values, in addition to those
/// that the length of the message allows. It is higher than that of servers, because a client has few
/// servers, and results are more often large tables than arguments are.
const MAX_JSON_NODES: usize = 400 * 1024;

impl Default for Settings {
    fn default() -> Self {
        Self {
            aim: RevisionChoice::Auto,
            deadline: DEFAULT_TIMEOUT,
            longest: MAX_TOTAL_TIME,
            probe_timeout: probe::PROBE_TIMEOUT,
            handshake_timeout: probe::HANDSHAKE_TIMEOUT,
            grace: DEFAULT_GRACE,
            limits: Limits::default()
                .with_linger(LINGER)
                .with_max_json_nodes(MAX_JSON_NODES),
            output: OutputCheck::Refuse,
            max_rounds: MAX_ROUNDS,
            log_level: None,
            tasks: TaskSupport::Declared,
            keep_alive: None,
            ask_rates: AskRates::default(),
        }
    }
}

impl Settings {
    /// The settings of a search for the server's revision.
    pub(crate) fn probe(&self, remembered: Option<DetectedRevision>) -> probe::Settings {
        let settings = probe::Settings::new()
            .with_aim(self.aim)
            .with_probe_timeout(self.probe_timeout)
            .with_handshake_timeout(self.handshake_timeout);
        match remembered {
            Some(detected) => settings.with_remembered(detected),
            None => settings,
        }
    }

    /// Whether legacy revisions are allowed.
    pub(crate) fn allows_legacy(&self) -> bool {
        match self.aim {
            RevisionChoice::Auto => true,
            RevisionChoice::Era(era) => era == Era::Legacy,
            RevisionChoice::Revision(revision) => !revision.is_modern(),
        }
    }

    /// The deadline of a call, which may have set its own.
    pub(crate) fn deadline(&self, own: Option<Duration>) -> Deadline {
        let timeout = own.unwrap_or(self.deadline);
        // A caller who sets a longer deadline than the longest call means it.
        Deadline::after(timeout).with_maximum(self.longest.max(timeout))
    }
}
