//! Runs a command on one thread, until it ends or is interrupted.

use std::{fs::File, future::Future, io, time::Duration};

use tokio::runtime::{Builder, Runtime};
pub(crate) use turnbuckle::stop_signal;
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

/// How many file descriptors a runtime uses itself, with room for a connection.
const RUNTIME_DESCRIPTORS: usize = 8;

/// `ENFILE` and `EMFILE`, the same numbers on every Unix.
const NO_DESCRIPTORS: [i32; 2] = [23, 24];

/// Builds a runtime, with everything enabled.
pub(crate) fn build(builder: &mut Builder) -> Outcome<Runtime> {
    check_descriptors()
        .and_then(|()| builder.enable_all().build())
        .map_err(|error| Failed::new(Code::Connect, error))
}

/// Counts file descriptors first, because Tokio panics if they run out while it opens those for signals.
fn check_descriptors() -> io::Result<()> {
    let mut room = Vec::new();
    for _ in 0..RUNTIME_DESCRIPTORS {
        match File::open("/dev/null") {
            Ok(file) => room.push(file),
            Err(error) => {
                let is_limit = error
                    .raw_os_error()
                    .is_some_and(|code| cfg!(unix) && NO_DESCRIPTORS.contains(&code));
                return if is_limit { Err(error) } else { Ok(()) };
            }
        }
    }
    Ok(())
}

/// Runs a command that talks to a server. One thread is enough for one connection.
pub(crate) fn block_on<T>(command: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let runtime = build(&mut Builder::new_current_thread())?;
    let outcome = runtime.block_on(command);
    // The command is done, but a name lookup may still block a thread.
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}
