//! One examination, from the first packet to the last.

use std::time::Duration;

use tokio::time::timeout;
use turnbuckle::transport::http::client::Address;
use turnbuckle_command_line::{
    failure::Outcome,
    style::elapsed,
    target::{Options, Server, command},
};
use turnbuckle_host::config::Launch;

use super::{
    finding::Finding,
    http,
    limits::Limits,
    process,
    report::Report,
    scope::{Scope, Tools},
    table::time,
};

/// The time for the whole run, unless `--timeout` sets it.
const TOTAL: Duration = Duration::from_mins(1);

/// Examines a server. Whatever the server does, this ends within the time of `--timeout`.
///
/// # Errors
/// If the options are wrong. Problems of the server are in the report.
pub async fn examine(server: &Server, options: &Options, tools: Tools) -> Outcome<Report> {
    // A URL may have secrets in its query.
    let place = server.name.split('?').next().unwrap_or_default();
    let address = Address::parse(place).map(|address| address.to_string());
    let name = address.as_deref().unwrap_or(&server.name);
    let report = Report::new(name, server.secrets(options), server.wire(options)?);
    let limits = Limits::of(options.timeout.unwrap_or(TOTAL));
    let scope = Scope::new(options, tools);
    let walk = async {
        match &server.launch {
            Launch::Command {
                program,
                arguments,
                environment,
                folder,
            } => {
                let command = command(program, arguments, environment, folder.as_deref());
                process::examine(&report, command, scope, limits).await;
                Ok(())
            }
            Launch::Remote(remote) => {
                http::examine(&report, server, &remote.url, options, scope, limits).await
            }
        }
    };
    if let Ok(outcome) = timeout(limits.total, walk).await {
        outcome?;
        report.wire.all_written()?;
        return Ok(report);
    }
    let limit = elapsed(limits.total);
    let said = format!("not done within {limit}: it was {}", report.current_step());
    report.mute(false);
    report.add(Finding::of(&time::TOTAL, said));
    report.wire.all_written()?;
    Ok(report)
}
