//! HTTP/2: its settings, and the tasks of its requests.

use std::sync::Arc;
use std::time::Duration;

use hyper::rt::Executor;
use hyper::server::conn::http2;
use hyper_util::rt::TokioTimer;
use tokio::task::JoinSet;
use turnbuckle_base::lock::Mutex;

use crate::http::Settings;

/// 30 s of silence, then 20 s for the answer to a ping: proxies close connections after a minute.
const PING_AFTER: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// 128 KiB: how much one request may have waiting to be sent before its body is polled again. A body
/// that returns more at once must limit that itself.
const MAX_SEND_BYTES: usize = 128 * 1024;

/// Creates a builder whose connection runs its requests in these tasks.
pub(super) fn builder(settings: &Settings, tasks: Tasks) -> http2::Builder<Tasks> {
    let mut builder = http2::Builder::new(tasks);
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_AFTER)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(settings.max_streams)
        .max_header_list_size(u32::try_from(settings.max_header_bytes).unwrap_or(u32::MAX))
        .max_send_buf_size(MAX_SEND_BYTES);
    builder
}

/// The tasks of one connection, which end with it. There are at most as many as streams.
#[derive(Clone, Debug, Default)]
pub(super) struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, request: F) {
        let mut tasks = self.0.lock();
        // Finished tasks are kept until they are joined.
        while let Some(outcome) = tasks.try_join_next() {
            if let Err(error) = outcome {
                tracing::error!(%error, "a request ended with a panic");
            }
        }
        tasks.spawn(request);
    }
}
