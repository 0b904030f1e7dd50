//! The catalog: every tool, prompt and resource of a server, and how it changes while running.
//!
//! What is served is a snapshot that never changes; a change makes a new one. So a call sees one
//! catalog from start to end, lists are written once for each revision and served as bytes, and
//! readers never wait for writers.

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
pub(crate) use snapshot::{Shelved, Snapshot};
pub use suggest::suggest;
pub use tool::Tool;
