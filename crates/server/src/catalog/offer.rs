//! The parts that a server offers, to every caller or to one caller.
//!
//! They decide which capabilities are declared and which methods are served. An entry with a
//! visibility rule counts only for the callers that see it. So a caller that sees no prompt does
//! not learn that there are prompts.

use std::ops::BitOrAssign;

use turnbuckle_protocol::{JsonObject, ServerCapabilities};

/// The parts of a server that exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one part that is there or is not"
)]
pub(crate) struct Offer {
    pub(crate) tools: bool,
    pub(crate) prompts: bool,
    /// There are resources or templates.
    pub(crate) resources: bool,
    /// There are arguments with completers.
    pub(crate) completions: bool,
    /// There are tools that run as tasks.
    pub(crate) tasks: bool,
    /// There are handlers that send log messages.
    pub(crate) logs: bool,
}

impl BitOrAssign for Offer {
    fn bitor_assign(&mut self, other: Self) {
        self.tools |= other.tools;
        self.prompts |= other.prompts;
        self.resources |= other.resources;
        self.completions |= other.completions;
        self.tasks |= other.tasks;
        self.logs |= other.logs;
    }
}

impl Offer {
    /// The lists to which a catalog can add entries while the server runs. Completion is not a
    /// list: clients are not notified when it becomes available, so only the author can declare it
    /// early.
    pub(crate) const FILLABLE: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
        completions: false,
        tasks: false,
        logs: false,
    };

    /// Whether any of the parts is a list.
    pub(crate) fn has_lists(self) -> bool {
        self.tools || self.prompts || self.resources
    }

    /// Returns the capabilities of these parts, without logging and tasks, which are declared
    /// elsewhere.
    pub(crate) fn capabilities(self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        if self.tools {
            capabilities.tools.get_or_insert_default().list_changed = Some(true);
        }
        if self.prompts {
            capabilities.prompts.get_or_insert_default().list_changed = Some(true);
        }
        if self.resources {
            let resources = capabilities.resources.get_or_insert_default();
            resources.list_changed = Some(true);
            // Any resource may change; the author reports that with `Changes`.
            resources.subscribe = Some(true);
        }
        if self.completions {
            capabilities.completions = Some(JsonObject::new());
        }
        capabilities
    }
}
