//! What happens beside calls: a resource that changes, log messages, and work that goes on as a task.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use turnbuckle::{
    Background, Changes, Log, Progress, State, protocol::LoggingLevel, resource, tool,
};

/// How often `tick` was called at this server, by any caller.
#[derive(Clone, Default)]
pub(super) struct Ticks(Arc<AtomicU64>);

/// How often `tick` was called. Subscribe to it to be notified of each change.
#[resource("demo://ticks", mime_type = "text/plain", title = "Ticks")]
pub(super) async fn ticks(State(ticks): State<Ticks>) -> String {
    ticks.0.load(Ordering::Relaxed).to_string()
}

/// Counts up the resource `demo://ticks`; clients that listen to it are told.
#[tool(additive)]
pub(super) async fn tick(State(ticks): State<Ticks>, #[extract] changes: Changes) -> String {
    let now = ticks.0.fetch_add(1, Ordering::Relaxed) + 1;
    changes.resource("demo://ticks");
    now.to_string()
}

/// Says something to the client's log, once for every level from `debug` to `emergency`; the client
/// gets those that it asked for.
#[tool(read_only)]
pub(super) async fn log(
    #[extract] log: Log,
    /** What to say. */
    text: String,
) -> String {
    let log = log.named("demo");
    let wanted = LoggingLevel::ALL
        .into_iter()
        .filter(|level| log.is_wanted(*level));
    let count = wanted.inspect(|level| log.say(*level, &text)).count();
    format!("said {count} times")
}

/// Bakes something, as a task where the client knows tasks.
#[tool(task)]
pub(super) async fn bake(
    #[extract] background: Background,
    #[extract] progress: Progress,
    /** What. */
    what: String,
    /** How long, in milliseconds; 300 unless said. */
    time: Option<u64>,
) -> String {
    background.begin().await;
    let slice = Duration::from_millis(time.unwrap_or(300).min(600_000)) / 3;
    for (number, step) in (1_u32..).zip(["kneaded", "risen", "browned"]) {
        tokio::time::sleep(slice).await;
        progress.of(number, 3).say(step).await;
    }
    format!("one {what}, still warm")
}
