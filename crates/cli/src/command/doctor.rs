//! `turnbuckle doctor`: the problems of a server, with the violated rule and the fix.

use std::{path::PathBuf, pin::pin};

use clap::Args;
use turnbuckle_command_line::{
    failure::{Failed, Outcome},
    target::{Server, ServerArguments},
};
use turnbuckle_doctor::{Report, Severity, Tools, examine};

use crate::{
    runtime::{block_on, stop_signal},
    show::{print, print_json},
};

/// Find out what is wrong with a server, by which rule of the specification, and what to do.
///
/// Does what a client does, step by step: name, port, proxy, TLS, HTTP, or the start of a program
/// and what it writes to stdout; then both eras, authorization, lists and their pages, schemas that
/// clients or model providers refuse, cache hints, cancellation, error codes, sessions, and whether
/// a web page could reach a local server. Each finding has the observation, the clients that it
/// breaks, the rule and the fix.
///
/// No tool is called, unless `--call` is given. Every step has a time limit, so a server that hangs
/// is reported as such.
///
/// Exit codes: 0 nothing is wrong (there may be warnings), 3 no connection, 4 the protocol is
/// broken, 5 authorization is missing or broken, 7 the server hangs.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// The server: a URL, a name from a config file, or `file:name`.
    #[arg(value_name = "SERVER")]
    words: Vec<String>,

    /// Print JSON: every finding, including checks that passed.
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the findings to this file as SARIF 2.1.0, for code scanning.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Call tools that say they only read and need no argument, and check their results.
    #[arg(long)]
    call: bool,

    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  turnbuckle doctor https://example.com/mcp
  turnbuckle doctor --call -- npx -y my-server
  turnbuckle doctor my-server --json | jq '.findings[] | select(.severity != \"ok\")'";

pub(crate) fn run(doctor: &Doctor) -> Outcome {
    let (server, rest) = doctor.server.split(&doctor.words)?;
    if let Some(word) = rest.first() {
        let failed = Failed::usage(format!("unexpected argument `{word}`"));
        return Err(failed.hint("doctor examines one server; a program is given after `--`"));
    }
    doctor.server.options.suits(&server.launch)?;
    block_on(doctor.examine(&server))
}

impl Doctor {
    async fn examine(&self, server: &Server) -> Outcome {
        let tools = if self.call { Tools::Call } else { Tools::Leave };
        let stop = pin!(stop_signal());
        tokio::select! {
            report = examine(server, &self.server.options, tools) => self.tell(&report?),
            () = stop => Err(Failed::interrupted()),
        }
    }

    fn tell(&self, report: &Report) -> Outcome {
        if let Some(path) = &self.sarif {
            let text = format!("{:#}\n", report.to_sarif());
            std::fs::write(path, text).map_err(|error| {
                Failed::usage(format!("cannot write `{}`: {error}", path.display()))
            })?;
        }
        if self.json {
            print_json(&report.to_json())?;
        } else {
            for line in report.to_text() {
                print(&line);
            }
        }
        report.verdict(if self.strict {
            Severity::Warning
        } else {
            Severity::Error
        })
    }
}
