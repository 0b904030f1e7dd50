//! Apps between a server and a host, at every revision and over real HTTP.

mod fallback;
mod http;
mod pages;
mod setup;
mod weather;
