//! The catalog at one moment.

use std::sync::Arc;

use turnbuckle_protocol::ServerCapabilities;

use super::{PromptEntry, ResourceEntry, SetupError, Shelf, TemplateEntry, ToolEntry};

/// Everything that is served, at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) tools: Shelf<ToolEntry>,
    pub(crate) prompts: Shelf<PromptEntry>,
    pub(crate) resources: Shelf<ResourceEntry>,
    pub(crate) templates: Shelf<TemplateEntry>,
    /// Whether there is or ever was something to complete.
    completes: bool,
    /// Whether there is or ever was a tool that runs as a task.
    runs_tasks: bool,
    /// Whether there is or ever was a handler that sends log messages.
    logs: bool,
}

/// Something ready to be put on its shelf.
pub(crate) enum Shelved {
    Tool(Arc<ToolEntry>),
    Prompt(Arc<PromptEntry>),
    Resource(Arc<ResourceEntry>),
    Template(Arc<TemplateEntry>),
}

impl Snapshot {
    pub(crate) fn insert(&mut self, entry: Shelved) -> Result<(), SetupError> {
        let (is_new, kind, key) = match entry {
            Shelved::Tool(entry) => {
                let key = entry.wire.name.clone();
                self.runs_tasks |= entry.task.is_some();
                self.logs |= entry.logs;
                (self.tools.insert(entry), "tool", key)
            }
            Shelved::Prompt(entry) => {
                let key = entry.wire.name.clone();
                self.completes |= !entry.completers.is_empty();
                self.logs |= entry.logs;
                (self.prompts.insert(entry), "prompt", key)
            }
            Shelved::Resource(entry) => {
                let key = entry.wire.uri.clone();
                self.logs |= entry.read.logs;
                (self.resources.insert(entry), "resource", key)
            }
            Shelved::Template(entry) => {
                let key = entry.wire.uri_template.clone();
                self.completes |= !entry.completers.is_empty();
                self.logs |= entry.read.logs;
                (self.templates.insert(entry), "resource template", key)
            }
        };
        if is_new {
            Ok(())
        } else {
            Err(SetupError::Duplicate { kind, key })
        }
    }

    /// Whether there is or was a tool that runs as a task.
    pub(crate) fn runs_tasks(&self) -> bool {
        self.runs_tasks
    }

    /// Whether there are or were resources of either kind.
    pub(crate) fn offers_resources(&self) -> bool {
        self.resources.is_offered() || self.templates.is_offered()
    }

    /// Whether there is or was a handler that sends log messages.
    pub(crate) fn logs(&self) -> bool {
        self.logs
    }

    /// What the server can do, read off what it holds.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        if self.tools.is_offered() {
            capabilities.tools.get_or_insert_default().list_changed = Some(true);
        }
        if self.prompts.is_offered() {
            capabilities.prompts.get_or_insert_default().list_changed = Some(true);
        }
        if self.offers_resources() {
            let resources = capabilities.resources.get_or_insert_default();
            resources.list_changed = Some(true);
            // Any of them may change, and `Changes` says so.
            resources.subscribe = Some(true);
        }
        if self.completes {
            capabilities.completions = Some(turnbuckle_protocol::JsonObject::new());
        }
        capabilities
    }
}
