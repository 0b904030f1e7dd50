//! The catalog at one moment.

use std::sync::Arc;

use super::{
    Entry, Offer, PromptEntry, ResourceEntry, SetupError, Shelf, TemplateEntry, ToolEntry,
};
use crate::Caller;

/// Everything that is served, at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) tools: Shelf<ToolEntry>,
    pub(crate) prompts: Shelf<PromptEntry>,
    pub(crate) resources: Shelf<ResourceEntry>,
    pub(crate) templates: Shelf<TemplateEntry>,
    /// What everybody is offered. What was once offered stays so, as an empty list if need be: a
    /// client that was told of it may ask.
    open: Offer,
    /// Whether there is or was an entry that only some callers see.
    has_hidden: bool,
    /// Whether some callers are or were offered log messages that others are not.
    hides_logs: bool,
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
                self.note(&*entry);
                (self.tools.insert(entry), "tool", key)
            }
            Shelved::Prompt(entry) => {
                let key = entry.wire.name.clone();
                self.note(&*entry);
                (self.prompts.insert(entry), "prompt", key)
            }
            Shelved::Resource(entry) => {
                let key = entry.wire.uri.clone();
                self.note(&*entry);
                (self.resources.insert(entry), "resource", key)
            }
            Shelved::Template(entry) => {
                let key = entry.wire.uri_template.clone();
                self.note(&*entry);
                (self.templates.insert(entry), "resource template", key)
            }
        };
        if is_new {
            Ok(())
        } else {
            Err(SetupError::Duplicate { kind, key })
        }
    }

    fn note<E: Entry>(&mut self, entry: &E) {
        if entry.visible().is_some() {
            self.has_hidden = true;
            self.hides_logs |= entry.offer().logs;
        } else {
            self.open |= entry.offer();
        }
    }

    /// What everybody is offered.
    pub(crate) fn open_offer(&self) -> Offer {
        self.open
    }

    /// What this caller is offered.
    pub(crate) fn offer(&self, caller: &Caller) -> Offer {
        let mut offer = self.open;
        if self.has_hidden {
            offer |= self.tools.offer_of_hidden(caller);
            offer |= self.prompts.offer_of_hidden(caller);
            offer |= self.resources.offer_of_hidden(caller);
            offer |= self.templates.offer_of_hidden(caller);
        }
        offer
    }

    /// Whether this caller is offered a part. Costs nothing where everybody is.
    pub(crate) fn offers(&self, caller: &Caller, part: fn(&Offer) -> bool) -> bool {
        part(&self.open) || self.has_hidden && part(&self.offer(caller))
    }

    /// Whether what is offered differs by caller.
    pub(crate) fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    /// Whether some callers are or were offered log messages that others are not.
    pub(crate) fn hides_logs(&self) -> bool {
        self.hides_logs
    }
}
