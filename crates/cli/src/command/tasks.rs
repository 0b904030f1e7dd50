//! `turnbuckle tasks`: manages the tasks of a server.

use clap::Args;
use serde_json::{Value, json, value::RawValue};
use turnbuckle::{
    CallError, ToolOutput,
    client::{TaskHandle, TaskTicket},
};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    style::Style,
    target::ServerArguments,
};

use crate::{
    ask::AskOptions,
    runtime::block_on,
    session::{self, Session},
    show::{self, Table, print, print_json, print_shown},
};

/// Work with tasks: list them, show the status of one, wait for its result, cancel it.
///
/// `call --task` starts one and prints its id. Servers of 2025-11-25 can list tasks; those of
/// 2026-07-28 cannot, but can show one whose id you have.
#[derive(Args)]
pub(crate) struct Tasks {
    /// The server, then `list`, or one of `get`, `result` and `cancel` with the id of a task.
    #[arg(value_name = "SERVER ACTION ID")]
    words: Vec<String>,

    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    media: show::Media,

    #[command(flatten)]
    asks: AskOptions,

    #[command(flatten)]
    server: ServerArguments,
}

pub(crate) fn run(tasks: &Tasks) -> Outcome {
    let (server, rest) = tasks.server.split(&tasks.words)?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    match rest[..] {
        [] | ["list"] | ["get" | "result" | "cancel", _] => {}
        [action @ ("get" | "result" | "cancel")] => {
            return Err(
                Failed::usage(format!("`{action}` needs the id of a task")).hint(format!(
                    "`{}` lists the tasks, if the server speaks 2025-11-25",
                    server.line("tasks", "list")
                )),
            );
        }
        _ => {
            return Err(Failed::usage(
                "the actions are `list`, `get ID`, `result ID` and `cancel ID`",
            )
            .hint(format!(
                "`{}` lists the tasks, if the server speaks 2025-11-25",
                server.line("tasks", "list")
            )));
        }
    }
    let work = async |session: Session| tasks.on(&session, &rest).await;
    block_on(session::with(
        &tasks.server.options,
        Some(&tasks.asks),
        &server,
        work,
    ))
}

impl Tasks {
    async fn on(&self, session: &Session, words: &[&str]) -> Outcome {
        let (action, id) = match words {
            [action, id] => (*action, *id),
            _ => return self.list(session).await,
        };
        let ticket = TaskTicket {
            task_id: id.to_owned(),
            tool: String::new(),
            poll_interval_ms: None,
            answered: std::collections::BTreeSet::new(),
        };
        let mut task = session.connection.task(ticket);
        match action {
            "get" => {
                let status = task.status().await?;
                if self.json {
                    return session.print_exact("tasks/get", &status);
                }
                let value = serde_json::to_value(&status).unwrap_or_default();
                row(&value)
                    .lines()
                    .iter()
                    .for_each(|line| print(line.trim_start()));
                Ok(())
            }
            "cancel" => Ok(task.cancel().await?),
            _ => {
                let output = self.result(session, &mut task).await?;
                if self.json {
                    print_json(&*output)?;
                } else {
                    print_shown(&show::tool_result(&output, &self.media));
                }
                if output.is_error == Some(true) {
                    return Err(Failed::new(
                        Code::Tool,
                        format!("task `{id}` reported an error"),
                    ));
                }
                Ok(())
            }
        }
    }

    /// Waits for the result, and answers the task's questions.
    async fn result(&self, session: &Session, task: &mut TaskHandle) -> Outcome<ToolOutput> {
        let answerer = self.asks.answerer()?;
        loop {
            match task.result().await {
                Err(CallError::InputRequired { asked, .. }) => {
                    let asks = asked.input_requests.unwrap_or_default();
                    let answers = session.answer(&answerer, &asks, self.json).await?;
                    task.answer(answers).await?;
                }
                done => return Ok(done?),
            }
        }
    }

    async fn list(&self, session: &Session) -> Outcome {
        if session.connection.server().revision().is_modern() {
            return Err(
                Failed::new(Code::Protocol, "servers of this revision do not list tasks")
                    .hint("`turnbuckle tasks SERVER get ID` shows one task"),
            );
        }
        let mut table = Table::default();
        let mut cursor: Option<Value> = None;
        loop {
            let params = cursor
                .as_ref()
                .map(|cursor| json!({"cursor": cursor}).to_string());
            let params = params.and_then(|params| RawValue::from_string(params).ok());
            let page = session.connection.request_raw("tasks/list", params).await?;
            if self.json {
                print(page.get());
            }
            let page: Value = serde_json::from_str(page.get())
                .map_err(|error| Failed::new(Code::Protocol, error))?;
            for task in page["tasks"].as_array().into_iter().flatten() {
                add(&mut table, task);
            }
            let next = page
                .get("nextCursor")
                .filter(|next| next.is_string())
                .cloned();
            if next.is_none() || next == cursor {
                break;
            }
            cursor = next;
        }
        if !self.json {
            table.lines().iter().for_each(|line| print(line));
        }
        Ok(())
    }
}

fn row(task: &Value) -> Table {
    let mut table = Table::default();
    add(&mut table, task);
    table
}

fn add(table: &mut Table, task: &Value) {
    // Some servers write ids as numbers.
    let text = |name: &str| match &task[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    table.row(vec![
        (text("taskId"), None),
        (text("status"), Some(Style::Warn)),
        (text("createdAt"), Some(Style::Dim)),
        (text("statusMessage"), None),
    ]);
}
