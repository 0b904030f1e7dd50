//! `turnbuckle call`: calls a tool.

use clap::{Args, ValueEnum};
use serde_json::{Value, value::RawValue};
use turnbuckle::{
    ToolOutput,
    client::{Started, TaskHandle},
    protocol::{CallToolResult, TaskSupport, Tool},
    schema::{Keyword, Schema, Violation, nearest_name},
};
use turnbuckle_command_line::{
    argument::{self, Tree, Unknown},
    control::tell,
    failure::{Code, Failed, Outcome},
    style::Style,
    target::Server,
};

use turnbuckle_host::config::Launch;

use super::request::Request;
use crate::{
    session::Session,
    show::{self, print, print_json, print_shown},
    signature,
};

/// Call a tool.
///
/// Arguments are `key=value`, and the tool's schema says what kind of value each is. `key:=json`
/// takes JSON, `key=@file` a file, `a.b=1` reaches into an object, `list+=x` adds to a list, and
/// `-` reads an object from stdin. Arguments that do not fit the schema, are given twice or are
/// misspelt are reported before anything is sent.
#[derive(Args)]
pub(crate) struct Call {
    /// The server, the tool, and its arguments.
    #[arg(value_name = "SERVER TOOL KEY=VALUE", allow_hyphen_values = false)]
    words: Vec<String>,

    /// Send the arguments even if they do not fit the tool's schema.
    #[arg(long)]
    send_anyway: bool,

    /// Start the call as a task where the server has tasks, and print its id instead of waiting.
    #[arg(long)]
    task: bool,

    /// What to do with a result that breaks the tool's output schema.
    #[arg(long, value_enum, value_name = "HOW", default_value = "error")]
    output_schema: OutputSchema,

    #[command(flatten)]
    pub(crate) request: Request,
}

/// What to do with a result that breaks the tool's output schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputSchema {
    /// It is printed, and the command ends with code 4.
    Error,
    /// It is printed, with a warning.
    Warn,
    /// It is printed.
    Ignore,
}

pub(crate) fn run(call: &Call) -> Outcome {
    let (server, rest) = call.request.server.split(&call.words)?;
    let (tool, words) = rest.split_first().ok_or_else(|| {
        let line = server.line("list", "");
        Failed::usage("no tool was named").hint(format!("`{line}` lists the tools"))
    })?;
    let work = async |session: Session| call.on(&server, &session, tool, words).await;
    call.request.run(&server, work)
}

impl Call {
    async fn on(
        &self,
        server: &Server,
        session: &Session,
        name: &str,
        words: &[String],
    ) -> Outcome {
        let connection = &session.connection;
        let tools = connection.tools().await?;
        let tool = find(server, &tools, name)?;
        let arguments = self.arguments(tool, words)?;
        let answerer = self.request.asks.answerer()?;
        let called = connection.call(name, &*arguments);
        if self.task {
            if matches!(server.launch, Launch::Command { .. }) {
                let said = "a task cannot outlive this command, which starts and ends the server";
                return Err(Failed::usage(said)
                    .hint("leave out `--task` to wait for the result, or use a server at a URL"));
            }
            let revision = connection.server().revision();
            let support = tool
                .execution
                .as_ref()
                .and_then(|it| it.task_support.clone());
            let may_be_one = matches!(support, Some(TaskSupport::Optional | TaskSupport::Required));
            // tasks: in 2025-11-25 each tool declares whether its calls may be tasks. In later revisions the server
            // decides for each call.
            if !revision.is_modern() && !may_be_one {
                let said = format!("calls of tool `{name}` cannot be tasks");
                return Err(Failed::usage(said).hint("call it without `--task`"));
            }
            return match called.task().await? {
                Started::Done(output) => self.tell_done(&output),
                Started::Task(mut task) => {
                    if !revision.is_modern() && !self.is_seen_by_others(server, &task).await {
                        // No command could get the task's result.
                        let _ = task.cancel().await;
                        let said = "the server keeps tasks per session, so no later command could reach this task";
                        return Err(
                            Failed::usage(said).hint("leave out `--task` to wait for the result")
                        );
                    }
                    connection.leave_session_open();
                    self.tell_task(&task)
                }
            };
        }
        let finished = session.finish(called, &answerer, self.request.json).await?;
        let result = &finished.result;
        if self.request.json {
            match session.wire.result("tools/call") {
                Some(exact) if !is_task(&exact) => print(exact.get()),
                _ => print_json(&**result)?,
            }
        } else {
            print_shown(&show::tool_result(result, &self.request.media));
            session.tell(&finished);
        }
        if result.is_error == Some(true) {
            return Err(Failed::new(
                Code::Tool,
                format!("tool `{name}` reported an error"),
            ));
        }
        self.check_output(tool, result)
    }

    fn check_output(&self, tool: &Tool, result: &CallToolResult) -> Outcome {
        let broken = match self.output_schema {
            OutputSchema::Ignore => None,
            _ => broken_output(tool, result),
        };
        let Some(problem) = broken else {
            return Ok(());
        };
        let name = &tool.name;
        let said = format!("the result of tool `{name}` breaks its output schema: {problem}");
        if self.output_schema == OutputSchema::Error {
            let hint = "`--output-schema warn` accepts the result with a warning";
            return Err(Failed::new(Code::Protocol, said).hint(hint));
        }
        tell(&Style::Warn.err(&format!("warning: {said}")));
        Ok(())
    }

    /// Whether other sessions can see a task. Some servers bind tasks to the session that started them.
    async fn is_seen_by_others(&self, server: &Server, task: &TaskHandle) -> bool {
        let options = &self.request.server.options;
        let Ok(target) = server.target(options) else {
            return false;
        };
        let Ok(other) = options.client().connect(target).await else {
            return false;
        };
        let is_seen = other.task(task.ticket().clone()).status().await.is_ok();
        other.close().await;
        is_seen
    }

    fn tell_task(&self, task: &TaskHandle) -> Outcome {
        if self.request.json {
            return print_json(task.ticket());
        }
        print(task.id());
        Ok(())
    }

    /// Reports a call that never became a task and so has its result already.
    fn tell_done(&self, output: &ToolOutput) -> Outcome {
        if self.request.json {
            return print_json(&**output);
        }
        tell("the result is already here: the server did not create a task");
        print_shown(&show::tool_result(output, &self.request.media));
        Ok(())
    }

    fn arguments(&self, tool: &Tool, words: &[String]) -> Outcome<Box<RawValue>> {
        if self.send_anyway {
            let schema = Value::Object(tool.input_schema.clone());
            return raw(read(tool, words, &schema)?.to_json());
        }
        arguments(tool, words, Misspelt::Refused)
    }
}

/// What to do with an argument whose name is similar to another.
#[derive(Clone, Copy)]
pub(crate) enum Misspelt {
    /// It is an error, unless `--send-anyway` is given.
    Refused,
    /// It is sent, with a warning.
    Sent,
}

/// The arguments as JSON that fits the schema and has only names that the schema has.
pub(crate) fn arguments(
    tool: &Tool,
    words: &[String],
    misspelt: Misspelt,
) -> Outcome<Box<RawValue>> {
    let schema = Value::Object(tool.input_schema.clone());
    let tree = read(tool, words, &schema)?;
    let json = tree.to_json();
    check(&schema, &json).map_err(|problem| Failed::usage(problem).hint(shape(tool, &schema)))?;
    known(&format!("tool `{}`", tool.name), &tree, &schema, misspelt)?;
    raw(json)
}

fn read(tool: &Tool, words: &[String], schema: &Value) -> Outcome<Tree> {
    argument::read(words, schema).map_err(|failed| failed.hint(shape(tool, schema)))
}

fn raw(json: String) -> Outcome<Box<RawValue>> {
    RawValue::from_string(json).map_err(Failed::usage)
}

fn shape(tool: &Tool, schema: &Value) -> String {
    let signature = format!("the signature is {}", signature::of(&tool.name, schema));
    match show::object_example(schema) {
        Some(words) => format!("{signature}; for example: {words}"),
        None => signature,
    }
}

/// Checks the names of arguments. Names that are not in the schema are sent with a warning, because the schema allows
/// them. A name that is similar to another may be refused, because otherwise the argument that was meant would
/// silently be left out.
pub(crate) fn known(of: &str, tree: &Tree, schema: &Value, misspelt: Misspelt) -> Outcome {
    for Unknown { name, nearest } in argument::unknown(tree, schema) {
        let meant = match (nearest, misspelt) {
            (Some(near), Misspelt::Refused) => {
                let failed = Failed::usage(format!("{of} has no argument `{name}`"));
                let hint = format!("did you mean `{near}`? `--send-anyway` sends it as it is");
                return Err(failed.hint(hint));
            }
            (Some(near), Misspelt::Sent) => format!(" (did you mean `{near}`?)"),
            (None, _) => String::new(),
        };
        let said = format!("warning: {of} has no argument `{name}`{meant}; sending it anyway");
        tell(&Style::Warn.err(&said));
    }
    Ok(())
}

pub(crate) fn find<'t>(server: &Server, tools: &'t [Tool], name: &str) -> Outcome<&'t Tool> {
    tools.iter().find(|tool| tool.name == name).ok_or_else(|| {
        let failed = Failed::usage(format!("server `{}` has no tool `{name}`", server.name));
        match nearest_name(name, tools.iter().map(|tool| &*tool.name)) {
            Some(near) => failed.hint(format!("did you mean `{near}`?")),
            None => failed.hint(format!("`{}` lists the tools", server.line("list", ""))),
        }
    })
}

/// Whether a result is a task, whose own result comes later.
fn is_task(result: &RawValue) -> bool {
    let members = serde_json::from_str::<serde_json::Map<String, Value>>(result.get());
    members.is_ok_and(|members| {
        members.contains_key("task") || members.get("resultType").is_some_and(|kind| kind == "task")
    })
}

/// Every violation of the schema. If the schema cannot be used, nothing is checked.
fn check(schema: &Value, json: &str) -> Result<(), String> {
    let (Ok(schema), Ok(value)) = (Schema::compile(schema), serde_json::from_str(json)) else {
        return Ok(());
    };
    schema.check(&value).map_err(|violations| {
        let problems: Vec<_> = violations.iter().map(problem).collect();
        format!("the arguments do not fit: {}", problems.join("; "))
    })
}

/// How a result violates the tool's output schema, if it does. If the schema cannot be used, nothing is checked.
pub(crate) fn broken_output(tool: &Tool, result: &CallToolResult) -> Option<String> {
    let schema = Schema::compile(tool.output_schema.as_ref()?).ok()?;
    let Some(content) = &result.structured_content else {
        return Some("structured content is missing".to_owned());
    };
    let value = serde_json::from_str(content.get()).ok()?;
    let violations = schema.check(&value).err()?;
    let problems: Vec<_> = violations.iter().map(ToString::to_string).collect();
    Some(problems.join("; "))
}

/// The violation in words for the user who typed the arguments.
fn problem(violation: &Violation) -> String {
    if violation.keyword != Keyword::Required {
        return violation.to_string();
    }
    let name = violation.expected.trim_start_matches("the property ");
    let place = match violation.pointer.as_str() {
        "" => String::new(),
        pointer => format!("{pointer}: "),
    };
    match &violation.nearest {
        Some(typed) => format!("{place}{name} is missing, and {typed} is not an argument"),
        None => format!("{place}{name} is missing"),
    }
}
