//! Tasks: calls that continue after they were answered.
//!
//! A tool that may run as a task is the same function as one that may not. Where the client can
//! wait, the call is answered with the task's id at once; the work goes on here, and its questions,
//! its words on how far it is and its result are kept in a [store](turnbuckle_store::task::Tasks)
//! for the client to come and look. Where the client knows nothing of tasks, the call runs as any
//! other.
//!
//! `mode` says whether a call becomes a task; it does in `launch`, and `work` runs it. `running_tasks`
//! knows all that run, `runner` is how the rest of the server reaches them, and `linked` joins the two.
//! What each revision sees of a task is in `wire`.

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
