//! One file for each command.

pub(crate) mod call;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod get;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod login;
pub(crate) mod man;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod replay;
mod request;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod tasks;
pub(crate) mod watch;

use std::{future::Future, time::Duration};

use serde::Serialize;

use crate::exit::{Failed, Outcome};

/// Runs a command that talks to a server: on one thread, for there is one connection.
pub(crate) fn block_on<T>(command: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failed::new(crate::exit::Code::Connect, error))?;
    let outcome = runtime.block_on(command);
    // Nobody waits any more: a lookup of a name may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

/// Prints data as JSON: one line for programs.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    let json = serde_json::to_string(value)
        .map_err(|error| Failed::new(crate::exit::Code::Protocol, error))?;
    print(&json);
    Ok(())
}

/// Prints a line of data; at a terminal, it commands nothing.
pub(crate) fn print(line: &str) {
    print_shown(&crate::show::for_stdout(line));
}

/// Prints what was made for showing, which may be a picture. A reader that has gone away has seen
/// enough.
pub(crate) fn print_shown(line: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}");
}
