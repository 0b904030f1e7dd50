//! How a gateway names, isolates and reaches its servers.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use turnbuckle_client::Era;
use turnbuckle_protocol::{JsonObject, Revision};

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
    /// All callers share it: for one user.
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

/// How one tool of a server is offered.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_gateway::{ToolSettings, UpstreamSettings};
///
/// let settings = UpstreamSettings::new()
///     .tool("git_push", ToolSettings::new().hidden())
///     .tool("git_log", ToolSettings::new().name("log").fixed("max_count", json!(20)));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolSettings {
    /// The name that it is offered under, in place of its own.
    pub name: Option<String>,
    /// Whether it is not offered at all.
    pub is_hidden: bool,
    /// Arguments that the gateway sets. Clients do not see them, and cannot set them.
    pub fixed: Arc<JsonObject>,
}

impl ToolSettings {
    /// Offers it as it is.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers it under this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Does not offer it.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Sets this argument in every call.
    #[must_use]
    pub fn fixed(mut self, argument: impl Into<String>, value: serde_json::Value) -> Self {
        Arc::make_mut(&mut self.fixed).insert(argument.into(), value);
        self
    }
}

/// How one server is used.
#[derive(Clone, Debug, Default)]
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
    /// Tools that are offered in another way than the server does, by their own names.
    pub tools: BTreeMap<String, ToolSettings>,
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

    /// Says how one of its tools is offered.
    pub fn tool(mut self, own_name: impl Into<String>, settings: ToolSettings) -> Self {
        self.tools.insert(own_name.into(), settings);
        self
    }

    /// Offers its tools and prompts under their own names.
    pub fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }
}
