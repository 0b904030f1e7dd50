//! The running gateway: its servers, their merged lists, and the routing of requests.

mod directory;
mod follow;
mod hooks;
mod list_news;
mod news;
mod of_caller;
mod offer;
mod problems;
mod relay;
mod route;
mod state;

pub(crate) use follow::{Follower, Subscribed};
pub(crate) use hooks::CoreHooks;
pub(crate) use relay::CoreRelay;
pub(crate) use state::{Core, OnState};
