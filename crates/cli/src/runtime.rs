//! Running a command: on one thread, until it ends or is interrupted.

use std::{future::Future, time::Duration};

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

/// Ctrl-C, or a polite request to end.
pub(crate) async fn stop_signal() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};

        let (Ok(mut interrupt), Ok(mut terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            // Without signals the process ends as processes do.
            return std::future::pending().await;
        };
        std::future::poll_fn(|context| {
            if interrupt.poll_recv(context).is_ready() || terminate.poll_recv(context).is_ready() {
                return std::task::Poll::Ready(());
            }
            std::task::Poll::Pending
        })
        .await;
    }
    #[cfg(not(unix))]
    let _ = tokio::signal::ctrl_c().await;
}
