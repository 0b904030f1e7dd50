//! `Child`: the handle to a child process. Dropping it ends the process.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::command::{Command, Stderr};
use super::end::{self, Ended};
use super::group::Group;
use super::pipes::{Pipes, Tail};
use super::process::Process;
use super::spawn_error::SpawnError;
use super::stderr::StderrLog;

/// 2 s for each step, as other clients allow, so that servers made for them work the same.
pub const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// A running child process and its process group.
///
/// [`shutdown`](Self::shutdown) ends it step by step and returns how it ended. Dropping it does the
/// same on a separate thread without blocking, even during a panic or while the runtime shuts down. If
/// this process ends before that is done, or is killed, a small shell that was started together with
/// the child takes the same steps.
///
/// A grandchild that has left the process group, as daemons do, is not ended. On systems other than
/// Unix only the child itself is ended, without SIGTERM and without the shell.
#[derive(Debug)]
pub struct Child {
    process: Arc<Process>,
    stderr: StderrLog,
    stderr_task: Option<JoinHandle<()>>,
    grace: Duration,
}

impl Child {
    pub(super) fn spawn(command: &Command) -> Result<(Self, Pipes), SpawnError> {
        let Ok(runtime) = Handle::try_current() else {
            return Err(SpawnError::no_runtime(command));
        };
        let mut spawned = command
            .to_std()
            .spawn()
            .map_err(|e| SpawnError::of(command, e))?;
        let streams = (
            spawned.stdin.take(),
            spawned.stdout.take(),
            spawned.stderr.take(),
        );
        let process = Group::of(spawned).map(|group| Arc::new(Process::new(group)));
        let process = process.map_err(|error| SpawnError::failed(command, error))?;
        #[cfg(unix)]
        process.guard(command.grace_on_drop());
        let mut child = Self {
            stderr: command.log_given().cloned().unwrap_or_default(),
            stderr_task: None,
            grace: command.grace_on_drop(),
            process,
        };
        // From here on, an error drops the child, which ends the process.
        let is_own = command.log_given().is_none();
        let opened = child
            .watch()
            .and_then(|()| child.open(streams, is_own, &runtime));
        let pipes = opened.map_err(|error| SpawnError::failed(command, error))?;
        if command.stderr_choice() != Stderr::Capture {
            child.stderr.end();
        }
        Ok((child, pipes))
    }

    /// Returns the process id, which is also the id of its group.
    pub fn id(&self) -> u32 {
        self.process.group.id()
    }

    /// Returns the output of the child on standard error, if it is captured.
    pub fn stderr(&self) -> &StderrLog {
        &self.stderr
    }

    /// Returns the exit status if the child itself has exited. Other processes of its group may still
    /// run.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.process.exit_status()
    }

    /// Waits for the child itself to exit. Returns `None` if it exited but its status is lost, because
    /// this process ignores SIGCHLD. The child remains a zombie until this handle is dropped or shut
    /// down.
    ///
    /// # Cancel safety
    /// Dropping the future changes nothing.
    pub async fn exited(&self) -> Option<ExitStatus> {
        self.process.exited().await
    }

    /// Ends the child and its group: closes its input, waits up to `grace` for all of them to exit,
    /// sends SIGTERM, waits up to `grace` again, and sends SIGKILL.
    ///
    /// To write all queued messages first, close the connection's outbox and let [`run`](crate::run)
    /// finish.
    ///
    /// # Cancel safety
    /// Dropping the future does not stop the shutdown.
    pub async fn shutdown(mut self, grace: Duration) -> Ended {
        end::begin(&self.process, grace);
        let ended = self.process.ended().await;
        if let Some(task) = self.stderr_task.take() {
            // This task reads the last output; after the process has ended it does not wait for
            // anything.
            let _ = task.await;
        }
        ended
    }

    fn watch(&self) -> io::Result<()> {
        let process = self.process.clone();
        let name = format!("mcp-wait-{}", self.id());
        let started = thread::Builder::new()
            .name(name)
            .spawn(move || process.watch());
        if started.is_err() {
            // There is no task left that could end it step by step.
            self.process.begin_ending();
            self.process.group.kill();
            self.process.group.reap();
        }
        started.map(drop)
    }

    fn open(&mut self, streams: Streams, is_own_log: bool, runtime: &Handle) -> io::Result<Pipes> {
        let (Some(stdin), Some(stdout), stderr) = streams else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        self.process.open_stdin(ChildStdin::from_std(stdin)?);
        let stdout = ChildStdout::from_std(stdout)?;
        if let Some(stderr) = stderr {
            let stderr = Tail::of_stderr(ChildStderr::from_std(stderr)?, self.process.clone());
            // This task ends with the child.
            let log = self.stderr.clone();
            self.stderr_task = Some(runtime.spawn(async move {
                log.clone().fill(stderr).await;
                if is_own_log {
                    log.end();
                }
            }));
        }
        Ok(Pipes::new(stdout, &self.process))
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        end::begin(&self.process, self.grace);
    }
}

type Streams = (
    Option<std::process::ChildStdin>,
    Option<std::process::ChildStdout>,
    Option<std::process::ChildStderr>,
);
