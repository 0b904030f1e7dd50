//! The server under measurement: `bench-server stdio`.
//!
//! It has what the harness expects: `echo{text}`, `add{a, b}` with structured output, and
//! a hundred others that give `tools/list` a realistic size.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use turnbuckle::{Args, Json, Server, Stdio, Tool, tool};

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
    server.tool(echo)
}

fn main() -> ExitCode {
    let mode = std::env::args().nth(1);
    if mode.as_deref() != Some("stdio") {
        eprintln!("usage: bench-server stdio");
        return ExitCode::from(2);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime.map(|runtime| runtime.block_on(server().serve(Stdio))) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: no runtime: {error}");
            ExitCode::FAILURE
        }
    }
}
