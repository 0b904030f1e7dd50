//! Serves a request of a client at a server, for each combination of eras.

mod call;
mod ear;
mod park;
mod pass;
mod repeat;
mod rounds;
mod session_asks;
mod task;
mod upstream_call;
mod visit;

pub(crate) use call::{Context, Route, serve};
pub(crate) use park::{MAX_PARKED, ParkTable};
pub(crate) use task::{TaskTable, follow as follow_tasks, is_task_method, serve as serve_task};
