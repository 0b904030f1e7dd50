//! `turnbuckle doctor`: what is wrong with a server, by which rule, and what to do about it.

use std::{path::PathBuf, pin::pin, time::Duration};

use clap::Args;
use turnbuckle::transport::http::client::Address;

use super::{block_on, print, print_json, serve::stop_signal};
use crate::{
    doctor::{Patience, Report, Severity, Wanted, examine, to_json, to_sarif, to_text},
    exit::{Code, Failed, Outcome},
    secret::Secrets,
    target::{Aim, Server},
    wire::Wire,
};

/// Find out what is wrong with a server, by which rule of the specification, and what to do.
///
/// Walks the way of a client: name, port, proxy, TLS, HTTP, or the start of a program and what it
/// writes to stdout; then both eras, authorization, lists and their pages, schemas that clients or
/// model providers refuse, cache hints, cancellation, error codes, sessions, and whether a web page
/// could reach a local server. Each finding says what was seen, whom it breaks, the rule and the fix.
///
/// No tool is called, unless `--call` is given. Every step has its time: a server that hangs is
/// diagnosed as one.
///
/// Exit codes: 0 nothing is wrong (there may be warnings), 3 no connection, 4 the protocol is
/// broken, 5 authorization is missing or broken, 7 the server hangs. All checks and their ids are
/// listed in docs/doctor.md.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// The server: a URL, a name from a config file, or `file:name`.
    #[arg(value_name = "SERVER")]
    words: Vec<String>,

    /// Print JSON: every finding, also of what is well.
    #[arg(long)]
    json: bool,

    /// Write the findings to this file as SARIF 2.1.0, for code scanning.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Call tools that say they only read and need no argument, and check their results.
    #[arg(long)]
    call: bool,

    /// Take warnings for errors.
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    aim: Aim,
}

const EXAMPLES: &str = "\
Examples:
  turnbuckle doctor https://example.com/mcp
  turnbuckle doctor --call -- npx -y my-server
  turnbuckle doctor my-server --json | jq '.findings[] | select(.severity != \"ok\")'";

/// A minute for everything, unless `--timeout` says otherwise.
const TOTAL: Duration = Duration::from_mins(1);

pub(crate) fn run(doctor: &Doctor) -> Outcome {
    let (server, rest) = doctor.aim.split(&doctor.words)?;
    if let Some(word) = rest.first() {
        let failed = Failed::usage(format!("`{word}` is one word too many"));
        return Err(failed.hint("doctor examines one server; a program is given after `--`"));
    }
    doctor.aim.options.suits(&server.launch)?;
    block_on(doctor.examine(&server))
}

impl Doctor {
    async fn examine(&self, server: &Server) -> Outcome {
        let options = &self.aim.options;
        // A URL may have secrets in its query.
        let place = server.name.split('?').next().unwrap_or_default();
        let address = Address::parse(place).map(|address| address.to_string());
        let name = address.as_deref().unwrap_or(&server.name);
        let report = Report::new(
            name,
            Secrets::of(options, server),
            Wire::new(options, server)?,
        );
        let patience = Patience::of(options.timeout.unwrap_or(TOTAL));
        let wanted = Wanted::new(options, self.call);
        let examined = examine(&report, server, options, wanted, patience);
        let stop = pin!(stop_signal());
        tokio::select! {
            outcome = examined => outcome?,
            () = stop => return Err(Failed::new(Code::Interrupted, "interrupted")),
        }
        self.tell(&report)
    }

    fn tell(&self, report: &Report) -> Outcome {
        if let Some(path) = &self.sarif {
            let text = format!("{:#}\n", to_sarif(report));
            std::fs::write(path, text).map_err(|error| {
                Failed::usage(format!("cannot write `{}`: {error}", path.display()))
            })?;
        }
        if self.json {
            print_json(&to_json(report))?;
        } else {
            for line in to_text(report) {
                print(&line);
            }
        }
        let worst = report.first(Severity::Error);
        let worst = worst.or_else(|| self.strict.then(|| report.first(Severity::Warning))?);
        match worst {
            None => Ok(()),
            Some(finding) => {
                let said = format!("{} [{}]", finding.message, finding.check.id);
                Err(Failed::new(finding.check.code(), said).hint(finding.check.fix))
            }
        }
    }
}
