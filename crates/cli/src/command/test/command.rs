//! Makes the saved calls, and compares their results.

use std::{
    cell::{Cell, RefCell},
    path::PathBuf,
    time::{Duration, Instant},
};

use clap::Args;
use serde_json::{Value, json};
use turnbuckle::{
    client::{Answerable, ClientCall},
    protocol::Tool,
};
use turnbuckle_command_line::{
    failure::{Code, Failed, Outcome},
    style::Style,
    target::ServerArguments,
};

use super::{
    file::{Called, Case, File},
    junit,
    verdict::Verdict,
};
use crate::{
    ask::{Answerer, AskOptions},
    command::call::broken_output,
    runtime::block_on,
    session::{self, Session},
    show::{print, print_json},
};

/// Run the calls that are saved in a file, and compare their results with what the file expects.
///
/// The file is JSON or YAML. It lists calls of tools, resources to read and prompts to get, each with
/// what is expected of parts of its result, which are named by JSON paths: a value, a text in it, a
/// regular expression, a JSON Schema. A result that says it is an error, or breaks the output schema
/// of its tool, fails unless `error` is true.
///
/// The exit code is 0 if everything is as expected, and 1 if something is not.
#[derive(Args)]
pub(crate) struct Test {
    /// The file.
    #[arg(value_name = "FILE")]
    calls: PathBuf,

    /// The server; the one that the file names unless given.
    #[arg(value_name = "SERVER")]
    server: Option<String>,

    /// Write a report in the XML of JUnit to this file.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Print the outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    asks: AskOptions,

    #[command(flatten)]
    arguments: ServerArguments,
}

pub(crate) fn run(test: &Test) -> Outcome {
    let file = File::open(&test.calls)?;
    let named = test.server.clone().or_else(|| file.server.clone());
    let words: Vec<String> = named.into_iter().collect();
    let (server, _) = test.arguments.split(&words)?;
    let options = &test.arguments.options;
    // The verdicts so far are kept if the server fails.
    let verdicts = RefCell::new(Vec::with_capacity(file.calls.len()));
    let began = Cell::new(Instant::now());
    let work = async |session: Session| test.on(&session, &file, &verdicts, &began).await;
    let outcome = block_on(session::with(options, Some(&test.asks), &server, work));
    let mut verdicts = verdicts.into_inner();
    if let Err(failed) = &outcome {
        // The call that failed, and those that were not made.
        let mut left = file.calls.iter().skip(verdicts.len());
        if let Some(case) = left.next() {
            let problems = vec![failed.said()];
            test.take(&mut verdicts, case, problems, began.get().elapsed());
        }
        for case in left {
            test.skip(&mut verdicts, case);
        }
    }
    if let Some(path) = &test.junit {
        let report = junit::report(&server.name, &verdicts);
        std::fs::write(path, report).map_err(|error| {
            let said = format!("cannot write `{}`: {error}", path.display());
            Failed::new(Code::Output, said)
        })?;
    }
    test.end(&verdicts, outcome)
}

impl Test {
    async fn on(
        &self,
        session: &Session,
        file: &File,
        verdicts: &RefCell<Vec<Verdict>>,
        began: &Cell<Instant>,
    ) -> Outcome {
        let answerer = self.asks.answerer()?;
        let is_of_tool = |case: &Case| matches!(case.called(), Ok(Called::Tool(_)));
        let tools = if file.calls.iter().any(is_of_tool) {
            session.connection.tools().await?
        } else {
            Vec::new()
        };
        for case in &file.calls {
            began.set(Instant::now());
            let problems = match problems(session, &answerer, &tools, case).await {
                // Other calls can still be made.
                Err(failed) if !session.connection.is_closed() => vec![failed.said()],
                problems => problems?,
            };
            self.take(
                &mut verdicts.borrow_mut(),
                case,
                problems,
                began.get().elapsed(),
            );
        }
        Ok(())
    }

    /// Adds a verdict, and shows it to people.
    fn take(
        &self,
        verdicts: &mut Vec<Verdict>,
        case: &Case,
        problems: Vec<String>,
        took: Duration,
    ) {
        let title = case.title();
        self.add(
            verdicts,
            Verdict {
                title,
                problems,
                is_skipped: false,
                took,
            },
        );
    }

    /// Adds a call that was not made.
    fn skip(&self, verdicts: &mut Vec<Verdict>, case: &Case) {
        let verdict = Verdict {
            title: case.title(),
            problems: Vec::new(),
            is_skipped: true,
            took: Duration::ZERO,
        };
        self.add(verdicts, verdict);
    }

    fn add(&self, verdicts: &mut Vec<Verdict>, verdict: Verdict) {
        if !self.json {
            verdict.show();
        }
        verdicts.push(verdict);
    }

    /// The result of the command. If the server ended or could not be reached, that is the reason.
    fn end(&self, verdicts: &[Verdict], outcome: Outcome) -> Outcome {
        let all = verdicts.len();
        let passed = verdicts.iter().filter(|it| it.has_passed()).count();
        let skipped = verdicts.iter().filter(|it| it.is_skipped).count();
        let failed = all - passed - skipped;
        if self.json {
            let calls: Vec<Value> = verdicts.iter().map(Verdict::to_json).collect();
            print_json(
                &json!({"passed": passed, "failed": failed, "skipped": skipped, "calls": calls}),
            )?;
        } else {
            let more = match skipped {
                0 => String::new(),
                count => format!(", {count} not called"),
            };
            print(&Style::Strong.out(&format!("{passed} of {all} as expected{more}")));
        }
        outcome?;
        if failed == 0 {
            return Ok(());
        }
        let calls = if failed == 1 { "call is" } else { "calls are" };
        let said = format!("{failed} {calls} not as expected");
        Err(Failed::new(Code::Tool, said))
    }
}

/// Makes one call, and returns what differs from the expectations.
async fn problems(
    session: &Session,
    answerer: &Answerer,
    tools: &[Tool],
    case: &Case,
) -> Outcome<Vec<String>> {
    let connection = &session.connection;
    let called = case.called().map_err(Failed::usage)?;
    let result = match called {
        Called::Tool(name) => {
            let call = connection.call(name, &case.arguments);
            outcome(session, answerer, call, |output| json!(**output)).await?
        }
        Called::Resource(uri) => {
            let call = connection.read(uri);
            outcome(session, answerer, call, |result| json!(result)).await?
        }
        Called::Prompt(name) => {
            let call = connection.get(name, &case.arguments);
            outcome(session, answerer, call, |result| json!(result)).await?
        }
    };
    let mut problems = Vec::new();
    let has_failed = result.get("error").is_some() || result["isError"] == true;
    if has_failed && !case.error {
        let said = reason(&result);
        problems.push(format!("it failed: {said}"));
    } else if case.error && !has_failed {
        problems.push("expected an error, got a result".to_owned());
    }
    if let Called::Tool(name) = called
        && !has_failed
        && let Some(tool) = tools.iter().find(|tool| tool.name == name)
        && let Ok(result) = serde_json::from_value(result.clone())
        && let Some(problem) = broken_output(tool, &result)
    {
        problems.push(format!("the result breaks the output schema: {problem}"));
    }
    let expected = case.expect.iter();
    problems.extend(expected.flat_map(|expectation| expectation.problems(&result)));
    Ok(problems)
}

/// The result as JSON, or an object with the server's error.
async fn outcome<'s, R: Answerable>(
    session: &'s Session,
    answerer: &Answerer,
    call: ClientCall<'s, R>,
    written: impl FnOnce(&R) -> Value,
) -> Outcome<Value> {
    match session.finish(call, answerer, false).await {
        Ok(finished) => Ok(written(&finished.result)),
        Err(failed) => {
            let failed = failed.as_it_came(session.wire.errors());
            match failed.rejection() {
                Some(error) => Ok(json!({ "error": error })),
                None => Err(failed),
            }
        }
    }
}

/// Why a call failed, as text.
fn reason(result: &Value) -> String {
    let message = result.pointer("/error/message");
    let text = result.pointer("/content/0/text");
    let said = message.or(text).and_then(Value::as_str);
    said.unwrap_or("the error has no message").to_owned()
}
