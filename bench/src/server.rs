//! The server under measurement: `bench-server stdio`, `bench-server http PORT [TOOLS]` (at `/mcp`).
//!
//! It has the tools that the harness expects: `echo{text}`, `add{a, b}` with structured output, `touch`, which
//! reports that `bench://clock` has changed, `ask{text}`, which asks once before it returns its text, and
//! a hundred others that give `tools/list` a realistic size, or as many as `TOOLS` says.

use std::{process::ExitCode, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle::{
    Args, Ask, Changes, Form, Http, HttpSettings, Json, ListenerLimits, MemoryBudget, Resource,
    ServeError, Server, Stdio, Tool, ToolError, store::MemoryUsedStates, tool,
    transport::http::Settings,
};

/// Returns its text argument.
#[tool]
async fn echo(text: String) -> String {
    text
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Adds two integers.
#[tool]
async fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum {
        sum: a.wrapping_add(b),
    })
}

#[derive(Form)]
struct Seat {
    /// Counted from the front.
    #[form(min = 1, max = 40)]
    row: u8,
}

/// Asks once, and returns its text argument.
#[tool]
async fn ask(Ask(ask): Ask, text: String) -> Result<String, ToolError> {
    let seat = ask.form::<Seat>("seat", "Which seat?").await?;
    let row = seat.accepted()?.row;
    debug_assert!(row > 0, "the form says so");
    Ok(text)
}

/// The resource whose listeners are counted.
const CLOCK: &str = "bench://clock";

/// How many connections and sessions the server accepts: ten thousand listeners, and the callers.
const MAX_CONNECTIONS: usize = 16_000;

/// How many bytes may be kept for them.
const MAX_KEPT: usize = 1024 * 1024 * 1024;

/// How many calls may ask in one run.
const MAX_USED_STATES: usize = 10_000_000;

/// Longer than any run: the cost of quiet streams over time is not part of the cost of a call
/// while they are open.
const KEEP_ALIVE: Duration = Duration::from_hours(1);

/// How many tools there are besides those that are called.
const OTHERS: usize = 100;

/// Reports that the clock has changed.
async fn touch(changes: Changes) -> &'static str {
    changes.resource(CLOCK);
    "told"
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "these tools are listed, not called")]
struct Search {
    /// Search query
    query: String,
    /// Maximum number of results
    #[schemars(range(min = 1, max = 100))]
    limit: Option<u32>,
    /// Verbose output
    verbose: Option<bool>,
}

async fn search(Args(_): Args<Search>) -> &'static str {
    "nothing found"
}

fn server(others: usize) -> Server {
    let mut server = Server::new("bench-server", env!("CARGO_PKG_VERSION")).tool(add);
    for number in 0..others {
        let about =
            format!("Dummy tool number {number:03}, which gives tools/list a realistic payload.");
        server = server.tool(Tool::new(format!("dummy_{number:03}"), search).about(about));
    }
    server
        .single_use(
            MemoryUsedStates::with_limit(MAX_USED_STATES).with_limit_per_owner(MAX_USED_STATES),
        )
        .tool(Tool::new("touch", touch))
        .resource(Resource::new(CLOCK, async || "noon"))
        .tool(ask)
        .tool(echo)
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let outcome = match *arguments {
        ["stdio"] => run(server(OTHERS).serve(Stdio)),
        ["http", port] => http(port, OTHERS),
        ["http", port, others] => match others.parse() {
            Ok(others) => http(port, others),
            Err(error) => Err(format!("`{others}` is no number of tools: {error}").into()),
        },
        _ => {
            eprintln!("usage: bench-server stdio | bench-server http PORT [TOOLS]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn http(port: &str, others: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut settings = HttpSettings::default();
    settings.max_sessions = MAX_CONNECTIONS;
    // All callers are on this machine.
    settings.max_sessions_per_caller = MAX_CONNECTIONS;
    settings.keep_alive = KEEP_ALIVE;
    let http = Http::bind(format!("127.0.0.1:{port}"))
        .settings(settings)
        .connections(Settings::default().with_max_connections(MAX_CONNECTIONS));
    let listeners = ListenerLimits::default().with_total(MAX_CONNECTIONS);
    let memory = MemoryBudget::default().with_kept(MAX_KEPT);
    let server = server(others)
        .listeners(listeners.with_per_caller(MAX_CONNECTIONS))
        .memory_budget(memory.with_kept_per_caller(MAX_KEPT));
    run(server.serve(http))
}

fn run(
    serving: impl Future<Output = Result<(), ServeError>>,
) -> Result<(), Box<dyn std::error::Error>> {
    // One thread: the harness gives each server one core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(serving)?)
}
