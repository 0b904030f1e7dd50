//! The merged catalog of all servers.

mod entry;
mod merged;
mod search;

pub(crate) use entry::tokens;
pub use entry::{CatalogPrompt, CatalogResource, CatalogTemplate, CatalogTool};
pub use merged::{HostCatalog, Problem};
pub(crate) use merged::{Part, merge};
