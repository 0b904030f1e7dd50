//! Running a command: on one thread, until it ends or is interrupted.

use std::{future::Future, time::Duration};

pub(crate) use turnbuckle::stop_signal;
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

/// Runs a command that talks to a server: on one thread, for there is one connection.
pub(crate) fn block_on<T>(command: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failed::new(Code::Connect, error))?;
    let outcome = runtime.block_on(command);
    // The result is there, but a name lookup may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}
