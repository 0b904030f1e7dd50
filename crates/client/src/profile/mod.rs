//! A client, as its connections know it: who it is, what it offers, and its settings.

mod identity;
mod keep_alive;
mod settings;
mod tasks;

pub(crate) use identity::{Profile, RelayProfile};
pub use keep_alive::KeepAlive;
pub(crate) use keep_alive::Pipes;
pub use settings::OutputCheck;
pub(crate) use settings::{Settings, TaskSupport};
