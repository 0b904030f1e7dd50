//! Tasks for each combination of the client's and the server's era (G18, G31).
//!
//! The id that a client sees is sealed. It contains the server, the session and the server's own
//! id, so it belongs to one caller and identifies where the task runs.

mod create;
mod finished;
mod follow;
mod id;
mod legacy_server;
mod list;
mod methods;
mod modern_pass;
mod modern_server;
mod replica;
mod reseal;
mod session_pass;
mod table;
mod task_lane;

pub(super) use create::{becomes_task, create, created_by_modern, created_in_session, finished};
pub(crate) use follow::follow;
pub(super) use methods::has_tasks;
pub(crate) use methods::{is_task_method, serve};
pub(super) use reseal::related_to;
pub(crate) use table::TaskTable;
