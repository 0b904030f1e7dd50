//! The catalog at one moment.

use std::sync::Arc;

use turnbuckle_protocol::ServerCapabilities;

use super::{PromptEntry, ResourceEntry, Shelf, TemplateEntry, ToolEntry};
use crate::setup::SetupError;

/// Everything that is served, at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) tools: Shelf<ToolEntry>,
    pub(crate) prompts: Shelf<PromptEntry>,
    pub(crate) resources: Shelf<ResourceEntry>,
    pub(crate) templates: Shelf<TemplateEntry>,
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
                (self.tools.insert(entry), "tool", key)
            }
            Shelved::Prompt(entry) => {
                let key = entry.wire.name.clone();
                (self.prompts.insert(entry), "prompt", key)
            }
            Shelved::Resource(entry) => {
                let key = entry.wire.uri.clone();
                (self.resources.insert(entry), "resource", key)
            }
            Shelved::Template(entry) => {
                let key = entry.wire.uri_template.clone();
                (self.templates.insert(entry), "resource template", key)
            }
        };
        if is_new {
            Ok(())
        } else {
            Err(SetupError::Duplicate { kind, key })
        }
    }

    /// What the server can do, read off what it holds.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let has_resources = !self.resources.is_empty() || !self.templates.is_empty();
        let completes = self
            .prompts
            .iter()
            .any(|prompt| !prompt.completers.is_empty())
            || self
                .templates
                .iter()
                .any(|template| !template.completers.is_empty());
        let mut capabilities = ServerCapabilities::default();
        if !self.tools.is_empty() {
            capabilities.tools.get_or_insert_default().list_changed = Some(true);
        }
        if !self.prompts.is_empty() {
            capabilities.prompts.get_or_insert_default().list_changed = Some(true);
        }
        if has_resources {
            capabilities.resources.get_or_insert_default().list_changed = Some(true);
        }
        if completes {
            capabilities.completions = Some(turnbuckle_protocol::JsonObject::new());
        }
        capabilities
    }
}
