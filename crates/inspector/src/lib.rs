//! The inspector: connections that live in this process, and a page on loopback that shows them.
//!
//! [`Site`] listens, [`guard`] lets nobody in but the page, [`route`] leads each request to what answers
//! it. [`Inspector`] holds what there is: servers, exchanges, open asks, the [`wire`] and the log of
//! [`events`], all of it bounded. Everything a server said is passed on as the text that it is, so no
//! digit of a number is lost on the way to the page.

mod answer;
mod app;
mod app_site;
mod ask;
mod call;
mod check;
mod client;
mod clock;
mod entrance;
mod equivalent;
mod events;
mod exchange;
mod export;
mod guard;
mod har;
mod http_row;
mod inspector;
mod listening;
mod login;
mod message;
mod offer;
mod page;
mod problem;
mod raw;
mod round;
mod route;
mod server;
mod site;
mod task;
mod wire;

pub use inspector::Inspector;
pub use server::Origin;
pub use site::{OpenError, Site};
