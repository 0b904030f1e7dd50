//! Tasks: calls that continue after they were answered.
//!
//! The same function can run as a task or as an ordinary call. If the client supports tasks, the
//! call is answered with the id of a task at once, and continues here. Its questions, its progress
//! and its result are stored in a [store](turnbuckle_store::task::Tasks) until the client asks for
//! them. For other clients the call runs like any other.
//!
//! `mode` decides whether a call becomes a task; `launch` creates the task, and `work` runs it.
//! `running_tasks` holds all running tasks, `runner` is the trait by which the rest of the server
//! uses them, and `linked` implements it. `wire` has the form of tasks in each revision.

mod deliver;
mod ending;
mod launch;
mod linked;
mod method;
mod mode;
mod news;
#[cfg_attr(
    not(feature = "http"),
    expect(dead_code, reason = "only HTTP has replicas")
)]
mod restart;
mod route;
mod runner;
mod running_tasks;
mod settings;
mod stored_call;
mod take_over;
mod tasks_cancel;
mod tasks_get;
mod tasks_list;
mod tasks_result;
mod tasks_update;
mod tool;
mod wire;
mod work;

use deliver::unknown;
pub(crate) use mode::{TaskMode, undeclared};
pub(crate) use news::listened;
#[cfg(feature = "http")]
pub(crate) use restart::{CallStarter, Restarts};
pub(crate) use route::serve;
use runner::Answering;
pub(crate) use runner::{TaskHost, TaskRunner, TaskStore};
use running_tasks::RunningTasks;
pub(crate) use running_tasks::capability;
pub use settings::TaskSettings;
#[cfg(feature = "http")]
pub(crate) use stored_call::StoredCall;
use wire::{detailed, legacy, legacy_page};
