//! Gateways: the cost that each adds to a call, compared with a direct connection.

pub(crate) mod command;
pub(crate) mod counted;
pub(crate) mod forward;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod programs;
pub(crate) mod ready;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod timed;
