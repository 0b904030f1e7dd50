//! `turnbuckle pack`: a bundle of a server that applications install, and its entry for the registry.

mod bundle;
mod command;
mod input;
mod manifest;
mod registry;

pub(crate) use command::{Pack, run};
