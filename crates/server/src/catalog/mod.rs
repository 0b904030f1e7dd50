//! The catalog: every tool, prompt and resource of a server, and how it changes while running.
//!
//! What is served is a snapshot that never changes; a change makes a new one. So a call sees one
//! catalog from start to end, lists are written once for each revision and served as bytes, and
//! readers never wait for writers.

mod change;
mod entry;
mod lookup;
mod shelf;
mod snapshot;

pub use change::Catalog;
pub(crate) use entry::{
    Callable, Entry, OutputCheck, PromptEntry, Reading, ResourceEntry, TemplateEntry, ToolEntry,
};
pub(crate) use lookup::Found;
pub(crate) use shelf::{Page, Shelf};
pub(crate) use snapshot::{Shelved, Snapshot};
