//! Runs the tool calls of one answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use turnbuckle_base::{error_chain, lock::Mutex};
use turnbuckle_protocol::{CallToolResult, ProgressNotificationParams, ToolUseContent};

use super::event::Event;
use super::race::unless;
use super::stop::Stop;
use super::tools::{ToolCall, Tools};
use crate::format::unreadable_arguments;

/// Reports events of several concurrent calls.
pub(super) type Report<'a> = Mutex<&'a mut (dyn FnMut(Event<'_>) + Send)>;

/// A running call. Dropping it cancels the call.
type Running<'a> = Pin<Box<dyn Future<Output = CallToolResult> + Send + 'a>>;

/// Calls tools, with a limit on concurrent calls, and returns their results in the order of the
/// calls. A call that had not finished when the run was stopped gets a result that says so.
pub(super) async fn call_all(
    tools: &Arc<dyn Tools>,
    known: &[String],
    calls: &[ToolUseContent],
    max_parallel: usize,
    stop: &Stop,
    report: &Report<'_>,
) -> Vec<CallToolResult> {
    let may_overlap = calls.iter().all(|call| tools.may_overlap(&call.name));
    let width = if may_overlap { max_parallel.max(1) } else { 1 };
    let mut results: Vec<Option<CallToolResult>> = calls.iter().map(|_| None).collect();
    let mut running: Vec<(usize, Running<'_>)> = Vec::new();
    let mut next = 0;
    let work = poll_fn(|context| {
        loop {
            while running.len() < width && next < calls.len() {
                let call = &calls[next];
                running.push((next, Box::pin(one(tools.as_ref(), known, call, report))));
                next += 1;
            }
            let before = running.len();
            running.retain_mut(|(index, future)| match future.as_mut().poll(context) {
                Poll::Ready(result) => {
                    results[*index] = Some(result);
                    false
                }
                Poll::Pending => true,
            });
            if running.is_empty() && next == calls.len() {
                return Poll::Ready(());
            }
            // When a call has ended, another may start, which must be polled too.
            if running.len() == before || next == calls.len() {
                return Poll::Pending;
            }
        }
    });
    unless(stop.stopped(), work).await;
    drop(running);
    let stopped = || CallToolResult::error("the user stopped the call before it was done");
    results
        .into_iter()
        .map(|result| result.unwrap_or_else(stopped))
        .collect()
}

async fn one(
    tools: &dyn Tools,
    known: &[String],
    call: &ToolUseContent,
    report: &Report<'_>,
) -> CallToolResult {
    let tell = |event: Event<'_>| (report.lock())(event);
    tell(Event::Calling(call));
    let started = Instant::now();
    let result = if let Some(text) = unreadable_arguments(call) {
        let short: String = text.chars().take(200).collect();
        CallToolResult::error(format!(
            "the arguments must be a JSON object, got `{short}`; call the tool again"
        ))
    } else if !known.contains(&call.name) {
        let reason = match tools.why_missing(&call.name) {
            Some(error) => error_chain::in_one_line(error.as_ref()),
            None => format!("there is no tool `{}`", call.name),
        };
        CallToolResult::error(reason)
    } else {
        let progress = |progress: &ProgressNotificationParams| {
            tell(Event::Progress {
                id: &call.id,
                progress,
            });
        };
        let called = tools.call(ToolCall {
            id: &call.id,
            name: &call.name,
            arguments: &call.input,
            progress: &progress,
        });
        match called.await {
            Ok(result) => result,
            Err(error) => CallToolResult::error(error_chain::in_one_line(error.as_ref())),
        }
    };
    tell(Event::Called {
        call,
        result: &result,
        elapsed: started.elapsed(),
    });
    result
}
