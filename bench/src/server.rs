//! The server under measurement: `bench-server stdio`, `bench-server http PORT` (at `/mcp`).
//!
//! It has what the harness expects: `echo{text}`, `add{a, b}` with structured output, `touch` that
//! says that `bench://clock` has changed, `ask{text}` that asks once before it returns its text, and
//! a hundred others that give `tools/list` a realistic size.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle::{
    Args, Ask, Changes, Form, Http, Json, Resource, ServeError, Server, Stdio, Tool, ToolError,
    tool, transport::http::Settings,
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

/// Connections that the server takes: ten thousand listeners, and those who publish.
const MAX_CONNECTIONS: usize = 16_000;

/// Says that the clock has changed.
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

fn server() -> Server {
    let mut server = Server::new("bench-server", env!("CARGO_PKG_VERSION")).tool(add);
    for number in 0..100 {
        let about =
            format!("Dummy tool number {number:03}, which gives tools/list a realistic payload.");
        server = server.tool(Tool::new(format!("dummy_{number:03}"), search).about(about));
    }
    server
        .tool(Tool::new("touch", touch))
        .resource(Resource::new(CLOCK, async || "noon"))
        .tool(ask)
        .tool(echo)
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (mode, port) = (arguments.next(), arguments.next());
    let server = server();
    let outcome = match (mode.as_deref(), port) {
        (Some("stdio"), None) => run(server.serve(Stdio)),
        (Some("http"), Some(port)) => {
            let mut connections = Settings::default();
            connections.max_connections = MAX_CONNECTIONS;
            let http = Http::bind(format!("127.0.0.1:{port}"));
            run(server.serve(http.connections(connections)))
        }
        _ => {
            eprintln!("usage: bench-server stdio | bench-server http PORT");
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

fn run(
    serving: impl Future<Output = Result<(), ServeError>>,
) -> Result<(), Box<dyn std::error::Error>> {
    // One thread: the harness gives each server one core.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(serving)?)
}
