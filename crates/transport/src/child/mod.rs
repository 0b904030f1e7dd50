//! The client side of stdio: a server as a child process, and no process left behind.
//!
//! A server is often a wrapper (`npx`, `uvx`, `sh -c`) around the process that matters, so each
//! child leads a process group and it is the group that is ended: its input is closed, after a
//! grace it gets SIGTERM, after another SIGKILL. On systems other than Unix there is only the
//! child itself, and the second step is skipped.
//!
//! When this process is killed outright, nothing of ours runs any more; its end of the pipes
//! closes, which the specification makes the sign for a server to exit. (A death signal from the
//! kernel would need code between fork and exec, which is unsafe and so not done.)

mod command;
mod end;
#[cfg_attr(unix, path = "group_unix.rs")]
#[cfg_attr(not(unix), path = "group_other.rs")]
mod group;
mod guard;
#[cfg(target_os = "linux")]
mod members;
mod pipes;
mod process;
mod spawn_error;
mod stderr;
#[cfg(unix)]
mod watchdog;

pub use command::{Command, Stderr};
pub use end::{Ended, EndedBy};
pub use guard::{Child, DEFAULT_GRACE};
pub use pipes::{ChildReader, ChildWriter, Pipes};
pub use spawn_error::SpawnError;
pub use stderr::{StderrCursor, StderrLine, StderrLog};
