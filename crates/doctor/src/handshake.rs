//! `initialize`: whether the server opens sessions.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle::{Revision, protocol::http::header};

use super::{
    connection::{Answer, Connection, Exchange, Spoken, Transport},
    discover::NO_VERSION,
    finding::Finding,
    report::Report,
    table::{handshake, http},
};

/// Opens a session; returns the result of `initialize`, or the exchange that failed.
pub(crate) async fn open(
    connection: &mut Connection<'_>,
    asked: Revision,
    limit: Duration,
) -> Result<Value, Exchange> {
    connection.spoken = Spoken::Legacy(asked);
    let params = Spoken::initialize(asked.as_str());
    let exchange = connection.ask_within("initialize", params, limit).await;
    early(connection, &exchange);
    let Some(result) = exchange.result().cloned() else {
        return Err(exchange);
    };
    let answered = result["protocolVersion"].as_str().unwrap_or_default();
    if let Some(revision) = Revision::from_date(answered) {
        connection.spoken = Spoken::Legacy(revision);
    }
    if let (Transport::Http(http), Some(head)) = (&mut connection.transport, &exchange.head) {
        http.session = head.header(header::SESSION_ID).map(str::to_owned);
    }
    let told = connection
        .notify("notifications/initialized", json!({}))
        .await;
    accepted(connection, &told);
    Ok(result)
}

/// Checks for requests of the server before the session is open.
fn early(connection: &Connection<'_>, exchange: &Exchange) {
    let is_early = |heard: &&Value| {
        heard.get("id").is_some() && heard["method"].is_string() && heard["method"] != "ping"
    };
    if let Some(request) = exchange.heard.iter().find(is_early) {
        let said = format!("it asks {} before the session is open", request["method"]);
        let finding = Finding::of(&handshake::EARLY, said);
        connection.report.add(finding.seen(format!("← {request}")));
    }
}

/// Checks the status with which a notification was accepted.
fn accepted(connection: &Connection<'_>, told: &Exchange) {
    let Some(status) = told.status().filter(|_| connection.is_http()) else {
        return;
    };
    if status == 202 && told.answer == Answer::Nothing {
        connection
            .report
            .ok(&http::NOTIFICATION, "notifications get 202");
        return;
    }
    connection
        .report
        .add(told.unexpected(&http::NOTIFICATION, "a notification"));
}

/// Checks the result of `initialize`.
pub(crate) fn look(connection: &Connection<'_>, result: &Value, asked: Revision) {
    let report = connection.report;
    let info = &result["serverInfo"];
    let missing: Vec<&str> = [
        ("protocolVersion", result["protocolVersion"].is_string()),
        ("capabilities", result["capabilities"].is_object()),
        ("serverInfo.name", info["name"].is_string()),
        ("serverInfo.version", info["version"].is_string()),
    ]
    .into_iter()
    .filter_map(|(name, is_there)| (!is_there).then_some(name))
    .collect();
    if !missing.is_empty() {
        let said = format!("the result of `initialize` lacks {}", missing.join(", "));
        report.add(Finding::of(&handshake::SHAPE, said).seen(format!("← {result}")));
    }
    let version = result["protocolVersion"].as_str().unwrap_or_default();
    match Revision::from_date(version) {
        Some(revision) if !revision.is_modern() => {
            report.ok(&handshake::VERSION, format!("{revision}"));
            report.know(|subject| subject.revisions.push(revision.to_string()));
            if !revision.rules().streamable_http && asked > revision {
                let said = format!("the newest revision that it speaks is {revision}");
                report.add(Finding::of(&handshake::OLD, said));
            }
        }
        _ => {
            let said = format!("it answers with version `{version}`");
            report.add(Finding::of(&handshake::VERSION, said).seen(format!("← {result}")));
        }
    }
    if let (Some(name), Some(version)) = (info["name"].as_str(), info["version"].as_str()) {
        let title = info["title"].as_str().unwrap_or(name);
        report.know(|subject| {
            subject
                .title
                .get_or_insert_with(|| format!("{title} {version}"));
        });
    }
}

/// A server that speaks 2026-07-28 may refuse sessions; checks whether the error names the versions it speaks.
pub(crate) fn refused(report: &Report, refused: &Exchange) {
    let error = refused.error().map(Value::to_string).unwrap_or_default();
    let is_told = Revision::ALL
        .iter()
        .any(|revision| error.contains(revision.as_str()));
    if is_told {
        let code = refused.code().unwrap_or_default();
        let said = format!("no sessions: older clients are refused with {code}");
        report.ok(&handshake::MODERN_ONLY, said);
        return;
    }
    report.add(refused.unexpected(&handshake::MODERN_ONLY, "`initialize`"));
}

/// Requests a version that does not exist, on a separate connection.
pub(crate) async fn look_at_echo(connection: &mut Connection<'_>) -> Exchange {
    let params = Spoken::initialize(NO_VERSION);
    let exchange = connection.ask("initialize", params).await;
    let answered = exchange.result().map(|result| &result["protocolVersion"]);
    let date = answered.and_then(Value::as_str).unwrap_or_default();
    // Some servers reject it, which the specification shows as an example.
    if Revision::from_date(date).is_some() || exchange.code().is_some() {
        connection
            .report
            .ok(&handshake::ECHO, "versions are negotiated");
        return exchange;
    }
    let said = format!("version {NO_VERSION} is answered with `{date}`");
    connection
        .report
        .add(exchange.finding(&handshake::ECHO, said));
    exchange
}
