//! Why a child could not be started, and what to check.

use std::io;
use std::path::{Path, PathBuf};

use super::command::Command;

/// Why a child process could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// The program was not found.
    #[error("could not start `{program}`: {}", not_found(.program))]
    NoSuchProgram {
        /// The program, as it was given.
        program: String,
    },
    /// The program is a script whose interpreter is missing.
    #[error(
        "could not start `{program}`: the file is there but its interpreter is not; \
         check the script's first line"
    )]
    NoSuchInterpreter {
        /// The program, as it was given.
        program: String,
    },
    /// The working directory does not exist.
    #[error(
        "could not start `{program}`: its working directory `{}` does not exist; \
         create it or name another",
        .directory.display()
    )]
    NoSuchDirectory {
        /// The program, as it was given.
        program: String,
        /// The working directory, as it was given.
        directory: PathBuf,
    },
    /// The file must not be executed.
    #[error(
        "could not start `{program}`: permission denied; \
         check that it is an executable file and that its directory may be entered"
    )]
    PermissionDenied {
        /// The program, as it was given.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// There is no tokio runtime, which the child's pipes need.
    #[error("could not start `{program}`: call `spawn` from inside a tokio runtime")]
    NoRuntime {
        /// The program, as it was given.
        program: String,
    },
    /// The system refused for another reason.
    #[error("could not start `{program}`")]
    Failed {
        /// The program, as it was given.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl SpawnError {
    pub(super) fn no_runtime(command: &Command) -> Self {
        Self::NoRuntime {
            program: name(command),
        }
    }

    pub(super) fn failed(command: &Command, source: io::Error) -> Self {
        Self::Failed {
            program: name(command),
            source,
        }
    }

    /// Determines the cause of a failed spawn: the system reports "not found" for a missing program, a
    /// missing interpreter and a missing directory alike.
    pub(super) fn of(command: &Command, source: io::Error) -> Self {
        let program = name(command);
        let directory = command.directory();
        match source.kind() {
            io::ErrorKind::NotFound => match directory {
                Some(directory) if !directory.is_dir() => Self::NoSuchDirectory {
                    program,
                    directory: directory.to_owned(),
                },
                _ if is_there(command) => Self::NoSuchInterpreter { program },
                _ => Self::NoSuchProgram { program },
            },
            io::ErrorKind::NotADirectory if directory.is_some_and(|it| !it.is_dir()) => {
                let directory = directory.unwrap_or(Path::new("")).to_owned();
                Self::NoSuchDirectory { program, directory }
            }
            io::ErrorKind::PermissionDenied => Self::PermissionDenied { program, source },
            _ => Self::Failed { program, source },
        }
    }
}

/// The message for a program that was not found. `PATH` is only searched for names.
fn not_found(program: &str) -> &'static str {
    if Path::new(program).components().count() > 1 {
        "the file does not exist; check its path"
    } else {
        "program not found; check its spelling and that it is on PATH, or give its full path"
    }
}

fn name(command: &Command) -> String {
    command.program().to_string_lossy().into_owned()
}

/// Whether the program was given as a path to a file that exists.
fn is_there(command: &Command) -> bool {
    let path = Path::new(command.program());
    let has_directory = path.components().count() > 1;
    // A relative path is resolved against the child's working directory.
    has_directory
        && command
            .directory()
            .unwrap_or(Path::new(""))
            .join(path)
            .is_file()
}
