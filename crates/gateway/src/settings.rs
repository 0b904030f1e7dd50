//! How a gateway names, isolates and reaches its servers.

use std::time::Duration;

use turnbuckle_client::Era;
use turnbuckle_protocol::Revision;

/// How long a client may take to answer what a legacy server asks in the middle of a call.
pub(crate) const PARK_FOR: Duration = Duration::from_mins(10);

/// The names under which the tools and prompts of the servers are offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// Their own names with one server, `server__name` with several.
    #[default]
    Auto,
    /// Their own names. Of two that are the same the later one is renamed.
    Bare,
    /// `server__name`.
    Prefixed,
}

/// Who shares a session with a server, and for a server that is a program, the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isolation {
    /// Everybody: for one user.
    #[default]
    Shared,
    /// Each caller has its own.
    Caller,
    /// Each caller has its own for each set of capabilities that its clients declare. A program then
    /// knows what it may ask, and runs once for each set.
    Client,
    /// Each call has its own.
    Call,
}

/// How one server is used.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct UpstreamSettings {
    /// The era that is spoken; found out if `None`.
    pub era: Option<Era>,
    /// The revision that is spoken, in place of the newest of its era.
    pub revision: Option<Revision>,
    /// Who shares a session.
    pub isolation: Isolation,
    /// Offers its tools under their own names, whatever the gateway does with the others.
    pub is_bare: bool,
    /// How many processes of it may run at a time; 4 if `None`. All servers together have 32.
    pub max_processes: Option<usize>,
}

impl UpstreamSettings {
    /// Finds out the era, and shares one session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Speaks this era and no other.
    pub fn era(mut self, era: Era) -> Self {
        self.era = Some(era);
        self
    }

    /// Speaks this revision and no other.
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Says who shares a session.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Runs at most this many processes of it at a time.
    pub fn max_processes(mut self, count: usize) -> Self {
        self.max_processes = Some(count);
        self
    }

    /// Offers its tools and prompts under their own names.
    pub fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }
}
