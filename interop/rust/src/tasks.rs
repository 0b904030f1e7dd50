//! Calls that go on as tasks, at servers that have them.

use std::time::Duration;

use serde_json::json;
use turnbuckle::{
    client::{CallError, Connection, Started, TaskHandle},
    protocol::{Revision, TaskStatus},
};

use crate::report::{Checked, Report, chain, same};

/// The tool that takes its time.
const TOOL: &str = "brew";

pub(crate) async fn check(report: &mut Report, server: &Connection, tools: &[String]) {
    let is_there = tools.iter().any(|tool| tool == TOOL);
    if is_there && server.server().revision() >= Revision::V2025_11_25 && declares(server) {
        report.check("tasks/result", result(server)).await;
        report.check("tasks/cancel", cancel(server)).await;
    }
}

/// Whether the server has tasks in the way of its revision.
fn declares(server: &Connection) -> bool {
    let Some(offered) = server.server().capabilities() else {
        return false;
    };
    if server.server().revision().is_modern() {
        return offered.extension("io.modelcontextprotocol/tasks").is_some();
    }
    offered.tasks.is_some()
}

#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn text(error: CallError) -> String {
    chain(&error)
}

async fn start(server: &Connection, time: u64) -> Result<TaskHandle, String> {
    let call = server.call(TOOL, json!({ "time": time }));
    match call.task().await.map_err(text)? {
        Started::Task(task) => Ok(task),
        Started::Done(output) => Err(format!("it is no task: {output:?}")),
    }
}

async fn result(server: &Connection) -> Checked {
    let mut task = start(server, 150).await?;
    same(
        &task.status().await.map_err(text)?.status,
        &TaskStatus::Working,
    )?;
    same(
        &task.result().await.map_err(text)?.text(),
        &"brewed".to_owned(),
    )?;
    same(
        &task.status().await.map_err(text)?.status,
        &TaskStatus::Completed,
    )?;
    // Who does not care for tasks gets the result all the same.
    let output = server.call(TOOL, json!({ "time": 20 })).await;
    same(&output.map_err(text)?.text(), &"brewed".to_owned())
}

async fn cancel(server: &Connection) -> Checked {
    let mut task = start(server, 600_000).await?;
    task.cancel().await.map_err(text)?;
    // Some servers take a moment to stop.
    while task.status().await.map_err(text)?.status == TaskStatus::Working {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    same(
        &task.status().await.map_err(text)?.status,
        &TaskStatus::Cancelled,
    )
}
