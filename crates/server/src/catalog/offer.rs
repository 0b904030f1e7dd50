//! What a server offers: its non-empty parts, for every caller or for one.
//!
//! Capabilities are declared and methods served by it. An entry with a rule of who sees it counts
//! only for those callers, so a caller that sees no prompt is not told that there are any.

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
    /// Resources or templates.
    pub(crate) resources: bool,
    /// Arguments that are completed.
    pub(crate) completions: bool,
    /// Tools that run as tasks.
    pub(crate) tasks: bool,
    /// Handlers that send log messages.
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
    /// The lists that a catalog can fill while the server runs. Completion is not a list: clients
    /// are not notified when it becomes available, so only the author can declare it early.
    pub(crate) const FILLABLE: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
        completions: false,
        tasks: false,
        logs: false,
    };

    /// Whether there are lists among the parts.
    pub(crate) fn has_lists(self) -> bool {
        self.tools || self.prompts || self.resources
    }

    /// Its capabilities, without logging and tasks, which are declared elsewhere.
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
            // Any of them may change, and `Changes` says so.
            resources.subscribe = Some(true);
        }
        if self.completions {
            capabilities.completions = Some(JsonObject::new());
        }
        capabilities
    }
}
