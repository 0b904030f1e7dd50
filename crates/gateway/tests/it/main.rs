//! The gateway between real clients and real servers: on sockets, on pipes, and with child processes.

mod asks;
mod cells;
mod child;
mod fleet;
mod parking;
mod site;
mod upstream;
