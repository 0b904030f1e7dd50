//! The inspector: connections that live in this process, and a page on loopback that shows them.
//!
//! A [`Site`] listens, and only accepts the page that was opened with its URL. The [`Inspector`]
//! contains servers, exchanges, open questions, messages and a log of events, all
//! with limits. Messages of servers are passed on as text, so that no digit of a number is lost on
//! the way to the page.

mod answer;
mod app;
mod app_page;
mod app_site;
mod ask;
mod asking;
mod call;
mod check;
mod client;
mod clock;
mod config_files;
mod configured;
mod current;
mod door;
mod entrance;
mod equivalent;
mod events;
mod exchange;
mod export;
mod gateway;
mod guard;
mod har;
mod http_row;
mod inspector;
mod listening;
mod log_line;
mod login;
mod message;
mod offer;
mod origin;
mod page;
mod problem;
mod random;
mod raw;
mod route;
mod saving;
mod server;
mod servers;
mod site;
mod watching;
mod wire;

pub use gateway::{GatewayAsk, GatewayPage};
pub use inspector::Inspector;
pub use origin::Origin;
pub use site::{OpenError, Site};
