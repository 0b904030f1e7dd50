//! The gateway between real clients and real servers: on sockets, on pipes, and with child processes.

mod asks;
mod cells;
mod child;
mod fleet;
mod lock;
mod parking;
mod policy;
mod site;
mod spans;
mod upstream;
