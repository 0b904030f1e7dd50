//! A client, as its connections know it: who it is, what it offers, and its settings.

mod identity;
mod settings;
mod tasks;

pub(crate) use identity::Profile;
pub(crate) use settings::{OutputCheck, Settings, TaskSupport};
