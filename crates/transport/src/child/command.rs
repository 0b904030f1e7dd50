//! `Command`: the program to start, its arguments and environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command as StdCommand, Stdio};
use std::time::Duration;

use super::guard::{Child, DEFAULT_GRACE};
use super::pipes::Pipes;
use super::spawn_error::SpawnError;
use super::stderr::StderrLog;

/// Where the standard error of a child goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stderr {
    /// To a bounded log, read through [`Child::stderr`].
    #[default]
    Capture,
    /// To the standard error of this process.
    Inherit,
    /// Nowhere.
    Null,
}

/// A server to be started as a child process.
///
/// ```no_run
/// use turnbuckle_transport::Command;
///
/// # async fn start() -> Result<(), turnbuckle_transport::SpawnError> {
/// let (child, pipes) = Command::new("uvx").arg("mcp-server-git").env("TZ", "UTC").spawn()?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    /// In the order in which they were set; `None` removes a variable.
    env: Vec<(OsString, Option<OsString>)>,
    is_env_cleared: bool,
    directory: Option<PathBuf>,
    stderr: Stderr,
    log: Option<StderrLog>,
    grace: Duration,
}

impl Command {
    /// Creates a command for this program: a path, or a name that is looked up in `PATH`.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            is_env_cleared: false,
            directory: None,
            stderr: Stderr::default(),
            log: None,
            grace: DEFAULT_GRACE,
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable of the child.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes an environment variable that the child would inherit.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), None));
        self
    }

    /// Starts with an empty environment instead of that of this process. Also removes variables that
    /// were set before; a program given by name needs `PATH` to be set again.
    pub fn env_clear(mut self) -> Self {
        self.env.clear();
        self.is_env_cleared = true;
        self
    }

    /// Sets the working directory.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets where standard error goes. By default it is captured.
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Captures standard error into this log, which can be read while the child starts and after it has
    /// ended. A command that is started several times appends to it each time, so the log never ends: a
    /// cursor that follows it waits for the next line.
    pub fn stderr_log(mut self, log: &StderrLog) -> Self {
        self.stderr = Stderr::Capture;
        self.log = Some(log.clone());
        self
    }

    /// Sets the time for each step of ending the child when the [`Child`] is dropped instead of shut
    /// down. Defaults to [`DEFAULT_GRACE`].
    pub fn drop_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Returns the program's name, as it was given.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Starts the child. Returns a handle that ends the child when it is dropped, and the pipes for
    /// [`run`](crate::run).
    /// # Errors
    /// [`SpawnError`] says what to check.
    ///
    /// # Panics
    /// If the runtime has no I/O driver.
    pub fn spawn(&self) -> Result<(Child, Pipes), SpawnError> {
        Child::spawn(self)
    }

    pub(super) fn stderr_choice(&self) -> Stderr {
        self.stderr
    }

    pub(super) fn log_given(&self) -> Option<&StderrLog> {
        self.log.as_ref()
    }

    pub(super) fn grace_on_drop(&self) -> Duration {
        self.grace
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// Converts the command to that of the standard library.
    pub(super) fn to_std(&self) -> StdCommand {
        let mut command = StdCommand::new(&self.program);
        command
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.stderr(match self.stderr {
            Stderr::Capture => Stdio::piped(),
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Null => Stdio::null(),
        });
        if self.is_env_cleared {
            command.env_clear();
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}
