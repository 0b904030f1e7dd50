//! The client: its identity, its session, and messages to it.

pub(crate) mod ask_by_task;
pub(crate) mod caller;
mod caller_changes;
mod caller_key;
pub(crate) mod cancel;
mod client_info;
#[cfg(feature = "http")]
mod http_request;
pub(crate) mod keep_alive;
pub(crate) mod log_level;
pub(crate) mod peer;
pub(crate) mod requests;
mod root_folders;
pub(crate) mod roots;
mod roots_cache;
mod roots_watch;
pub(crate) mod session;
pub(crate) mod trace;

pub use caller::Caller;
pub(crate) use cancel::{CancelFlag, CancelOnDrop};
pub use client_info::ClientInfo;
#[cfg(feature = "http")]
pub(crate) use http_request::HttpRequest;
#[cfg(feature = "http")]
pub(crate) use peer::DETACH;
pub(crate) use peer::Peer;
pub(crate) use requests::OnProgress;
pub use root_folders::RootFolders;
pub use roots::{RootsChanged, RootsError};
#[cfg(feature = "http")]
pub(crate) use session::OnVisit;
pub(crate) use session::{Opened, Session};
