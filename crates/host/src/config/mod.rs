//! Config files with servers, in the formats of many hosts.
//!
//! A [`File`] is read with all its [`Entry`]s. An entry is expanded into a [`Launch`] only when it
//! is needed, so that an unset variable of one server does not affect the others. [`Places`] lists
//! the usual locations of files, and [`ConfigFiles::find`] finds a server by its name.

mod entry;
mod error;
mod expand;
mod file;
mod format;
mod launch;
mod lookup;
mod named;
mod place;
mod section;
mod settings;

pub use entry::{Entry, Input};
pub use error::{ConfigError, EntryError};
pub use expand::{Environment, Unexpanded, Variables};
pub use file::File;
pub use format::Format;
#[doc(hidden)]
pub use format::problem_at;
pub use launch::{Launch, Remote, Wire};
pub use lookup::{ConfigFiles, FoundEntry, LookupError};
pub use place::{Place, PlaceOwner, Places};
pub use settings::{IgnoredKey, Settings};
