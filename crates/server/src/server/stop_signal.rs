//! The signals that ask a process to end.

/// Returns a future that completes when the process is asked to end, by SIGTERM (from service
/// managers and containers) or by Ctrl-C. A signal between this call and the first poll of the
/// future is noticed, too.
///
/// From then on these signals do not end the process by themselves, so the program must end after
/// this future completes:
///
/// ```no_run
/// use turnbuckle_server::{Http, Server, stop_signal};
/// # async fn run() -> Result<(), turnbuckle_server::ServeError> {
/// let http = Http::bind("127.0.0.1:8080").until(stop_signal());
/// Server::new("greeter", "1.0.0").serve(http).await
/// # }
/// ```
///
/// Must be called inside a runtime. Where signals are not supported, the future never completes.
#[cfg(unix)]
pub fn stop_signal() -> impl Future<Output = ()> + Send + use<> {
    use std::{future::poll_fn, task::Poll};

    use tokio::signal::unix::{SignalKind, signal};

    let signals = [SignalKind::interrupt(), SignalKind::terminate()].map(signal);
    async move {
        let [Ok(mut interrupt), Ok(mut terminate)] = signals else {
            return std::future::pending().await;
        };
        poll_fn(|context| {
            if interrupt.poll_recv(context).is_ready() || terminate.poll_recv(context).is_ready() {
                return Poll::Ready(());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Returns a future that completes when the process is asked to end by Ctrl-C. Must be called
/// inside a runtime.
#[cfg(not(unix))]
pub fn stop_signal() -> impl Future<Output = ()> + Send + use<> {
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}
