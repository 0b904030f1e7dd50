//! The catalog at one moment.

use std::sync::Arc;

use turnbuckle_store::Change;

use super::{
    Entry, EntryList, Offer, PromptEntry, ResourceEntry, SetupError, TemplateEntry, ToolEntry,
};
use crate::Caller;

/// Everything that is served at one moment.
#[derive(Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) tools: EntryList<ToolEntry>,
    pub(crate) prompts: EntryList<PromptEntry>,
    pub(crate) resources: EntryList<ResourceEntry>,
    pub(crate) templates: EntryList<TemplateEntry>,
    /// The parts that every caller sees. A part stays declared even if its list becomes empty,
    /// because clients that know of it may send requests for it.
    open: Offer,
    /// Whether there is or was an entry that only some callers see.
    has_hidden: bool,
    /// Whether some callers are or were offered log messages that others are not.
    hides_logs: bool,
    /// The parts that are declared to callers that see a handler which takes the catalog.
    fillable: Offer,
    /// Whether there is or was a template whose resources a callback lists.
    lists_by_callback: bool,
}

/// An entry that is ready to be added to its list.
pub(crate) enum NewEntry {
    Tool(Arc<ToolEntry>),
    Prompt(Arc<PromptEntry>),
    Resource(Arc<ResourceEntry>),
    Template(Arc<TemplateEntry>),
}

impl NewEntry {
    /// The list that the entry belongs to.
    pub(crate) fn list(&self) -> Change {
        match self {
            Self::Tool(_) => Change::Tools,
            Self::Prompt(_) => Change::Prompts,
            Self::Resource(_) | Self::Template(_) => Change::Resources,
        }
    }
}

impl Snapshot {
    /// Creates an empty catalog. `lists` are the lists that the author declares although they may
    /// be empty. If there are none, the lists that a handler can fill are declared.
    pub(crate) fn new(lists: Offer) -> Self {
        let fillable = if lists.has_lists() {
            Offer::default()
        } else {
            Offer::FILLABLE
        };
        Self {
            open: lists,
            fillable,
            ..Self::default()
        }
    }

    /// Declares the lists that can be filled from outside of the server. Returns `false` if they
    /// were declared before, or if the author chose which lists are declared.
    pub(crate) fn hand_out(&mut self) -> bool {
        let before = self.open;
        self.open |= self.fillable;
        self.open != before
    }

    pub(crate) fn insert(&mut self, entry: NewEntry) -> Result<(), SetupError> {
        self.note(&entry);
        let (is_new, kind, key) = match entry {
            NewEntry::Tool(entry) => {
                let key = entry.wire.name.clone();
                let is_disabled = entry.is_disabled;
                let is_new = self.tools.insert(entry);
                if is_new && is_disabled {
                    self.tools.disable(&key);
                }
                (is_new, "tool", key)
            }
            NewEntry::Prompt(entry) => {
                let key = entry.wire.name.clone();
                (self.prompts.insert(entry), "prompt", key)
            }
            NewEntry::Resource(entry) => {
                let key = entry.wire.uri.clone();
                (self.resources.insert(entry), "resource", key)
            }
            NewEntry::Template(entry) => {
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

    /// Adds an entry, or replaces the entry that has the same name or URI.
    pub(crate) fn replace(&mut self, entry: NewEntry) {
        self.note(&entry);
        match entry {
            NewEntry::Tool(entry) => self.tools.replace(entry),
            NewEntry::Prompt(entry) => self.prompts.replace(entry),
            NewEntry::Resource(entry) => self.resources.replace(entry),
            NewEntry::Template(entry) => self.templates.replace(entry),
        }
    }

    /// Records what an entry adds to the capabilities of the server.
    fn note(&mut self, entry: &NewEntry) {
        match entry {
            NewEntry::Tool(entry) => self.note_offer(&**entry),
            NewEntry::Prompt(entry) => self.note_offer(&**entry),
            NewEntry::Resource(entry) => self.note_offer(&**entry),
            NewEntry::Template(entry) => {
                self.lists_by_callback |= entry.lister.is_some();
                self.note_offer(&**entry);
            }
        }
    }

    fn note_offer<E: Entry>(&mut self, entry: &E) {
        if entry.visible().is_some() {
            self.has_hidden = true;
            self.hides_logs |= entry.offer().logs;
            return;
        }
        self.open |= entry.offer();
        if entry.changes_catalog() {
            self.open |= self.fillable;
        }
    }

    /// Whether there is or was a template whose resources a callback lists.
    pub(crate) fn lists_by_callback(&self) -> bool {
        self.lists_by_callback
    }

    /// Returns the parts that every caller sees.
    pub(crate) fn open_offer(&self) -> Offer {
        self.open
    }

    /// Returns the parts that this caller sees.
    pub(crate) fn offer(&self, caller: &Caller) -> Offer {
        let mut offer = self.open;
        if self.has_hidden {
            offer |= self.tools.offer_of_hidden(caller, self.fillable);
            offer |= self.prompts.offer_of_hidden(caller, self.fillable);
            offer |= self.resources.offer_of_hidden(caller, self.fillable);
            offer |= self.templates.offer_of_hidden(caller, self.fillable);
        }
        offer
    }

    /// Whether this caller sees a part. No rule is evaluated if every caller sees it.
    pub(crate) fn offers(&self, caller: &Caller, part: fn(&Offer) -> bool) -> bool {
        part(&self.open) || self.has_hidden && part(&self.offer(caller))
    }

    /// Whether there are any resources or templates, even if only some callers see them.
    pub(crate) fn has_resources(&self) -> bool {
        self.open.resources
            || self.resources.iter().next().is_some()
            || self.templates.iter().next().is_some()
    }

    /// Whether the parts differ by caller.
    pub(crate) fn has_hidden(&self) -> bool {
        self.has_hidden
    }

    /// Whether some callers are or were offered log messages that others are not.
    pub(crate) fn hides_logs(&self) -> bool {
        self.hides_logs
    }
}
