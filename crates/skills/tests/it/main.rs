//! Skills between a server and a host, at every revision, over real HTTP and from real files.

mod files;
mod found;
mod http;
mod loaded;
mod sample;
