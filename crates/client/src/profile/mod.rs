//! The client as its connections use it: name, capabilities and settings.

mod ask_rates;
mod identity;
mod settings;
mod tasks;

pub use ask_rates::AskRates;
pub(crate) use identity::{Profile, RelayProfile};
pub use settings::OutputCheck;
pub(crate) use settings::{Settings, TaskSupport};
