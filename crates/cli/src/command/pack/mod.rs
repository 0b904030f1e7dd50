//! `turnbuckle pack`: creates a bundle of a server for applications to install, and its entry for the registry.

mod bundle;
mod command;
mod input;
mod manifest;
mod registry;

pub(crate) use command::{Pack, run};
