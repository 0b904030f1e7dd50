//! Prints data on stdout.

use std::{
    io::{self, Write as _},
    sync::atomic::{AtomicBool, Ordering},
};

use serde::Serialize;
use turnbuckle_base::lock::Mutex;
use turnbuckle_command_line::{
    control::for_stdout,
    failure::{Code, Failed, Outcome},
};

/// The first error of printing, if there was one.
static LOST: Mutex<Option<io::Error>> = Mutex::new(None);

/// The first error of saving an image, a sound or a file, if there was one.
static NOT_SAVED: Mutex<Option<io::Error>> = Mutex::new(None);

/// Whether anything was printed.
static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether anything was printed.
pub(crate) fn has_printed() -> bool {
    HAS_PRINTED.load(Ordering::Relaxed)
}

/// Prints data as JSON, in one line for programs.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    let json = serde_json::to_string(value).map_err(|error| Failed::new(Code::Protocol, error))?;
    print(&json);
    Ok(())
}

/// Prints a line of data, without control sequences if stdout is a terminal. [`all_printed`] reports an
/// error.
pub(crate) fn print(line: &str) {
    print_shown(&for_stdout(line));
}

/// Prints text with our own control sequences, such as an image.
pub(crate) fn print_shown(line: &str) {
    HAS_PRINTED.store(true, Ordering::Relaxed);
    let mut out = io::stdout().lock();
    if let Err(error) = writeln!(out, "{line}") {
        LOST.lock().get_or_insert(error);
    }
}

/// Records that something could not be saved, for [`all_printed`].
pub(super) fn not_saved(error: io::Error) {
    NOT_SAVED.lock().get_or_insert(error);
}

/// Fails if something could not be printed or saved: the disk is full, or the reader has closed stdout.
pub(crate) fn all_printed() -> Outcome {
    let flushed = io::stdout().lock().flush();
    printed(LOST.lock().take().or(flushed.err()))?;
    match NOT_SAVED.lock().take() {
        None => Ok(()),
        Some(error) => {
            let said = format!("a part of the result was not saved: {error}");
            let failed = Failed::new(Code::Output, said);
            Err(failed.hint("`--save FOLDER` saves to another folder"))
        }
    }
}

/// The result of a command that only printed help.
pub(crate) fn help_printed(outcome: io::Result<()>) -> Outcome {
    printed(outcome.and_then(|()| io::stdout().lock().flush()).err())
}

fn printed(lost: Option<io::Error>) -> Outcome {
    match lost {
        None => Ok(()),
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            let said = "stdout was closed before everything was printed";
            Err(Failed::new(Code::Output, said).quiet())
        }
        Some(error) => Err(Failed::new(
            Code::Output,
            format!("cannot write to stdout: {error}"),
        )),
    }
}
