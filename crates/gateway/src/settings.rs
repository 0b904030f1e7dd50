//! How a gateway names, isolates and reaches its servers.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use turnbuckle_client::Era;
use turnbuckle_protocol::{JsonObject, Revision};

/// How long a client may take to answer what a legacy server asks in the middle of a call.
pub(crate) const PARK_FOR: Duration = Duration::from_mins(10);

/// How the tools and prompts of the servers are named. Set it with
/// [`Gateway::naming`](crate::Gateway::naming).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// Their own names with one server, `server__name` with several.
    #[default]
    Auto,
    /// Their own names. If two are the same, the later one gets another name.
    Bare,
    /// `server__name`.
    Prefixed,
}

/// Which callers share a session with a server, and for a server that is a program, its process.
/// Set it with [`UpstreamSettings::isolation`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Isolation {
    /// All callers share one session. For gateways with a single user.
    #[default]
    Shared,
    /// Each caller has a session of its own.
    Caller,
    /// Each caller has a session for each set of capabilities that its clients declare, so that a
    /// program knows what it may ask. It runs once for each set.
    Client,
    /// Each call has a session of its own, which ends with it.
    Call,
}

/// How one tool of a server is offered to clients. Set it with [`UpstreamSettings::tool`].
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
    /// The name that clients see, in place of the server's own.
    pub name: Option<String>,
    /// Whether the tool is hidden: it is not listed, and calling it fails.
    pub is_hidden: bool,
    /// Arguments that the gateway sets. Clients do not see them, and cannot set them.
    pub fixed: Arc<JsonObject>,
}

impl ToolSettings {
    /// Settings that change nothing: the tool is offered as the server describes it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Offers the tool under this name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Hides the tool: it is not listed, and calling it fails.
    #[must_use]
    pub fn hidden(mut self) -> Self {
        self.is_hidden = true;
        self
    }

    /// Sets this argument to this value in every call. It is removed from the schema that clients
    /// see.
    #[must_use]
    pub fn fixed(mut self, argument: impl Into<String>, value: serde_json::Value) -> Self {
        Arc::make_mut(&mut self.fixed).insert(argument.into(), value);
        self
    }
}

/// How the gateway uses one server. Give it to
/// [`Gateway::server_with`](crate::Gateway::server_with).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct UpstreamSettings {
    /// The era that is spoken with the server. It is detected if `None`.
    pub era: Option<Era>,
    /// The revision that is spoken with the server; the newest that both support if `None`.
    pub revision: Option<Revision>,
    /// Which callers share a session. Defaults to [`Isolation::Shared`].
    pub isolation: Isolation,
    /// Whether the tools of this server keep their own names, regardless of [`Naming`].
    pub is_bare: bool,
    /// How many processes of it may run at a time; 8 if `None`. One of them is for the lists, and a
    /// caller has at most half of the others.
    pub max_processes: Option<usize>,
    /// Settings of single tools, by the server's own names for them.
    pub tools: BTreeMap<String, ToolSettings>,
}

impl UpstreamSettings {
    /// The default settings: the revision is detected, and all callers share one session.
    pub fn new() -> Self {
        Self::default()
    }

    /// Speaks only this era with the server: legacy (with `initialize`) or modern. By default it is
    /// detected.
    pub fn era(mut self, era: Era) -> Self {
        self.era = Some(era);
        self
    }

    /// Speaks only this revision with the server. By default the newest that both support is used.
    pub fn revision(mut self, revision: Revision) -> Self {
        self.revision = Some(revision);
        self
    }

    /// Sets which callers share a session, and for a program its process. Use [`Isolation::Caller`]
    /// for servers that keep state of their users.
    pub fn isolation(mut self, isolation: Isolation) -> Self {
        self.isolation = isolation;
        self
    }

    /// Sets how many processes of the server may run at a time. Defaults to 8. One of them is for
    /// the lists, and a caller has at most half of the others. A call that needs one more waits for
    /// a free one. [`Gateway::max_processes`](crate::Gateway::max_processes) limits all servers
    /// together.
    pub fn max_processes(mut self, count: usize) -> Self {
        self.max_processes = Some(count);
        self
    }

    /// Sets how one tool is offered: renamed, hidden, or with fixed arguments. `own_name` is the
    /// server's name for it.
    pub fn tool(mut self, own_name: impl Into<String>, settings: ToolSettings) -> Self {
        self.tools.insert(own_name.into(), settings);
        self
    }

    /// Offers its tools and prompts under their own names, without a prefix, whatever [`Naming`]
    /// says.
    pub fn bare(mut self) -> Self {
        self.is_bare = true;
        self
    }
}
