//! The client side of stdio: a server as a child process. It is always ended, so that no process is
//! left behind.
//!
//! A server is often a wrapper (`npx`, `uvx`, `sh -c`) around the actual server process. So each child
//! leads a process group, and the whole group is ended: its input is closed, after a grace period it
//! gets SIGTERM, and after another SIGKILL. On systems other than Unix only the child itself is ended,
//! and the second step is skipped.
//!
//! If this process is killed, it cannot do any of this; but its end of the pipes closes, which tells a
//! server to exit according to the specification. (A death signal from the kernel would require code
//! between fork and exec, which is unsafe code and therefore not used.)

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
