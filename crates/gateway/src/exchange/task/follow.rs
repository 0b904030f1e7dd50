//! Sends `notifications/tasks` for a subscription of a modern client.
//!
//! Servers of both eras are polled for the status of a task, at the interval that they propose.
//! Sessions need not send notifications of changes, and those notifications do not contain the
//! result.

use std::{
    collections::HashSet,
    pin::Pin,
    sync::Arc,
    task::{Context as PollContext, Poll},
    time::Duration,
};

use futures_core::{Stream, future::BoxFuture};
use serde_json::value::RawValue;
use tokio::time;
use turnbuckle_protocol::{
    Task,
    envelope::{Edit, Raw, RawText},
    error::code,
};
use turnbuckle_server::{RelayReply, RelayTasks, RelayedRequest};

use super::{
    methods::{declares, serve_again},
    modern_server::pause,
};
use crate::{exchange::call::Context, translate::FrontRequest, upstream::Member};

/// How many tasks one subscription may name.
const MAX_FOLLOWED: usize = 32;

/// The pause, in milliseconds, after a server first failed to return the status of a task. It
/// doubles with each failure in a row, up to the longest polling interval.
const FIRST_PAUSE: u64 = 1_000;

/// How many times the pause doubles at most.
const MAX_DOUBLINGS: u32 = 10;

/// The current parts of the gateway; `None` after it has ended.
type Parts = Option<(Arc<Context>, Vec<Arc<Member>>)>;

type Now = dyn Fn() -> BoxFuture<'static, Parts> + Send + Sync;

/// Follows tasks until the stream is dropped. Returns `None` if the client does not support tasks.
pub(crate) fn follow(
    now: impl Fn() -> BoxFuture<'static, Parts> + Send + Sync + 'static,
    request: &RelayedRequest<'_>,
    ids: &[String],
) -> Option<RelayTasks> {
    let now: Arc<Now> = Arc::new(now);
    let mut seen = HashSet::new();
    let (mut accepted, mut watched) = (Vec::new(), Vec::new());
    for id in ids
        .iter()
        .filter(|id| seen.insert(id.as_str()))
        .take(MAX_FOLLOWED)
    {
        let request = FrontRequest::about_task(request, id)?;
        if !declares(&request) {
            return None;
        }
        let task = FollowedTask {
            now: Arc::clone(&now),
            request: Arc::new(request),
            last: None,
            failures: 0,
            pause: Duration::ZERO,
            is_over: false,
        };
        watched.push(task.boxed());
        accepted.push(id.clone());
    }
    Some(RelayTasks::new(accepted, Box::pin(FollowedTasks(watched))))
}

/// Waits for a change. Returns the notification, and the task to continue with.
type Watch = BoxFuture<'static, Option<(RawText, FollowedTask)>>;

struct FollowedTasks(Vec<Watch>);

impl Stream for FollowedTasks {
    type Item = RawText;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut PollContext<'_>) -> Poll<Option<RawText>> {
        let mut index = 0;
        while index < self.0.len() {
            match self.0[index].as_mut().poll(context) {
                Poll::Pending => index += 1,
                Poll::Ready(None) => drop(self.0.swap_remove(index)),
                Poll::Ready(Some((params, task))) => {
                    self.0[index] = task.boxed();
                    return Poll::Ready(Some(params));
                }
            }
        }
        if self.0.is_empty() {
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}

/// A task that a subscription follows.
struct FollowedTask {
    now: Arc<Now>,
    request: Arc<FrontRequest>,
    /// The last notification.
    last: Option<RawText>,
    /// How many times in a row the server failed to return the status.
    failures: u32,
    pause: Duration,
    is_over: bool,
}

impl FollowedTask {
    fn boxed(self) -> Watch {
        Box::pin(self.change())
    }

    /// Waits until the task has changed. Returns `None` if no change will follow.
    async fn change(mut self) -> Option<(RawText, Self)> {
        while !self.is_over {
            time::sleep(self.pause).await;
            let (context, members) = (self.now)().await?;
            let reply = serve_again(context, Arc::clone(&self.request), members).await;
            if is_final(&reply) {
                return None;
            }
            let RelayReply::Result(result) = reply else {
                // The server may still have the task after a restart.
                self.pause = pause_after(self.failures);
                self.failures = self.failures.saturating_add(1);
                continue;
            };
            self.failures = 0;
            let task: Task = serde_json::from_slice(&result).ok()?;
            self.is_over = task.status.is_terminal();
            self.pause = pause(task.poll_interval_ms);
            let params = params(&result)?;
            let last = self.last.as_ref().map(|last| last.raw().get());
            if last == Some(params.raw().get()) {
                continue;
            }
            // After the end, nothing is compared with the last notification, which may be large.
            self.last = (!self.is_over).then(|| params.clone());
            return Some((params, self));
        }
        None
    }
}

/// Whether the error is permanent, so that polling again is useless.
fn is_final(reply: &RelayReply) -> bool {
    match reply {
        RelayReply::Error(number, _) => *number == code::INVALID_PARAMS,
        RelayReply::Reject(reject) => reject.code() == code::INVALID_PARAMS,
        _ => false,
    }
}

/// The pause after a failure, if the server had failed this often before.
fn pause_after(failures: u32) -> Duration {
    pause(Some(FIRST_PAUSE << failures.min(MAX_DOUBLINGS)))
}

/// The params of the notification, made from a result that contains a task.
fn params(result: &[u8]) -> Option<RawText> {
    let raw: &RawValue = serde_json::from_slice(result).ok()?;
    let edit = Edit::new(Raw::from(raw))
        .drop(&["resultType"])
        .drop(&["_meta"]);
    edit.finish().ok()
}

#[cfg(test)]
mod tests {
    use turnbuckle_server::Reject;

    use super::*;

    #[test]
    fn only_an_unknown_task_is_given_up() {
        assert!(is_final(&Reject::invalid_params("no such task").into()));
        assert!(!is_final(&Reject::internal("not available").into()));
        assert!(!is_final(&RelayReply::Result(b"{}".to_vec())));
    }

    #[test]
    fn pauses_grow_and_have_an_end() {
        assert_eq!(pause_after(0), Duration::from_secs(1));
        assert_eq!(pause_after(2), Duration::from_secs(4));
        assert_eq!(pause_after(u32::MAX), pause(Some(u64::MAX)));
    }

    #[test]
    fn metadata_of_a_result_is_no_change() {
        let told = |result: &str| params(result.as_bytes()).expect("params");
        let first = told(r#"{"taskId":"1","_meta":{"at":1},"resultType":"complete"}"#);
        let second = told(r#"{"taskId":"1","_meta":{"at":2},"resultType":"complete"}"#);
        assert_eq!(first.raw().get(), second.raw().get());
    }
}
