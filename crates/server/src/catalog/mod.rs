//! The catalog: every tool, prompt and resource of a server, and changes to them while it runs.
//!
//! Requests are served from an immutable snapshot; a change makes a new snapshot. So a call sees
//! the same catalog from start to end, lists are serialized once for each revision, and readers
//! never wait for writers.

pub(crate) mod caching;
mod change;
pub(crate) mod completion;
mod cursor;
pub(crate) mod describe;
mod edit;
mod entry;
mod entry_list;
pub(crate) mod extension;
mod limits;
mod listing;
pub(crate) mod live_catalog;
mod lookup;
mod offer;
mod prompt;
mod resource;
pub(crate) mod setup;
mod setup_error;
mod snapshot;
mod suggest;
pub(crate) mod tool;

pub use caching::Cached;
pub use change::Catalog;
pub use completion::{Candidates, Completed, Completer, CompletionContext};
pub(crate) use cursor::fingerprint;
pub use describe::{
    DescribePrompt, DescribeResource, DescribeTool, Described, HandlerSet, Handlers, IntoPrompt,
    IntoResource, IntoTool,
};
pub use edit::CatalogEdit;
pub(crate) use entry::{
    Callable, Entry, PromptEntry, Reading, ResourceEntry, TemplateEntry, ToolEntry,
};
pub(crate) use entry_list::{EntryList, Page};
pub use extension::{Extension, ExtensionMethod};
pub use listing::{Paging, ResourcePage};
pub(crate) use lookup::Found;
pub(crate) use offer::Offer;
pub use prompt::Prompt;
pub use resource::Resource;
pub use setup_error::SetupError;
pub(crate) use snapshot::{NewEntry, Snapshot};
pub use suggest::suggest;
pub use tool::Tool;
