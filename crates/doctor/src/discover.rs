//! `server/discover`: whether the server speaks 2026-07-28, and whether it follows its rules.

use std::time::Duration;

use serde_json::{Value, json};
use turnbuckle::{
    Revision,
    protocol::{error::code, meta::key},
};

use super::{
    connection::{Connection, Exchange},
    finding::Finding,
    offer::hints,
    table::discover,
};

/// What the answer says about the era of the server.
pub(crate) enum Verdict {
    /// It speaks 2026-07-28. Contains the result of discovery.
    Modern(Value),
    /// It speaks a modern revision, but cannot be used; the report says why.
    Broken,
    /// It does not speak a modern revision, or does not say so.
    Not(Box<Exchange>),
}

/// A version that does not exist: a date before the protocol.
pub(crate) const NO_VERSION: &str = "1999-12-31";

/// Sends the request, and judges the answer.
pub(crate) async fn open(connection: &mut Connection<'_>, limit: Duration) -> Verdict {
    let exchange = connection
        .ask_within("server/discover", json!({}), limit)
        .await;
    judge(connection, exchange)
}

pub(crate) fn judge(connection: &Connection<'_>, exchange: Exchange) -> Verdict {
    if let Some(result) = exchange.result() {
        let is_modern =
            result.get("supportedVersions").is_some() || result["resultType"].is_string();
        if is_modern {
            return Verdict::Modern(result.clone());
        }
    }
    let is_modern_error = matches!(
        exchange.code(),
        Some(
            code::HEADER_MISMATCH
                | code::MISSING_REQUIRED_CLIENT_CAPABILITY
                | code::UNSUPPORTED_PROTOCOL_VERSION
        )
    );
    if !is_modern_error {
        return Verdict::Not(Box::new(exchange));
    }
    let supported = &exchange
        .error()
        .map_or(&Value::Null, |error| &error["data"])["supported"];
    let speaks: Vec<_> = supported.as_array().into_iter().flatten().collect();
    let is_older = |version: &&&Value| {
        let date = version.as_str().unwrap_or_default();
        Revision::from_date(date).is_some_and(|revision| !revision.is_modern())
    };
    if exchange.code() == Some(code::UNSUPPORTED_PROTOCOL_VERSION)
        && speaks.iter().any(|version| is_older(&version))
    {
        // It knows this era, but only speaks the other one.
        return Verdict::Not(Box::new(exchange));
    }
    connection
        .report
        .add(exchange.unexpected(&discover::FAILS, "`server/discover`"));
    Verdict::Broken
}

/// Reports that only a modern revision was requested and the server does not speak it.
pub(crate) fn missing(connection: &Connection<'_>, verdict: &Verdict) {
    if let Verdict::Not(exchange) = verdict {
        let said = format!(
            "the server does not speak {}: {}",
            connection.spoken.revision(),
            exchange.came()
        );
        connection
            .report
            .add(exchange.finding(&discover::FAILS, said));
    }
}

/// Checks the result of discovery, and how requests that violate the rules are rejected.
pub(crate) async fn look(connection: &mut Connection<'_>, result: &Value) {
    let report = connection.report;
    report.step("looking at what `server/discover` says");
    shape(connection, result);
    hints(connection, "server/discover", result);
    let info = &result["_meta"][key::SERVER_INFO];
    match (info["name"].as_str(), info["version"].as_str()) {
        (Some(name), Some(version)) => {
            let title = info["title"].as_str().unwrap_or(name);
            report.know(|subject| subject.title = Some(format!("{title} {version}")));
            report.ok(&discover::IDENTITY, "it says who it is");
        }
        _ => report.add(Finding::of(
            &discover::IDENTITY,
            "results do not say which server they are from",
        )),
    }
    unknown_version(connection).await;
    missing_meta(connection).await;
}

fn shape(connection: &Connection<'_>, result: &Value) {
    let report = connection.report;
    let spoken = connection.spoken.revision().to_string();
    report.know(|subject| subject.revisions.push(spoken.clone()));
    let versions: Option<Vec<&str>> = result["supportedVersions"]
        .as_array()
        .and_then(|versions| versions.iter().map(Value::as_str).collect());
    if versions.as_ref().is_none_or(Vec::is_empty) || !result["capabilities"].is_object() {
        let said = "`supportedVersions` is not a list of dates, or `capabilities` is not an object";
        report.add(Finding::of(&discover::SHAPE, said).seen(format!("← {result}")));
        return;
    }
    let versions = versions.unwrap_or_default();
    if versions.contains(&spoken.as_str()) {
        report.ok(&discover::VERSIONS, versions.join(", "));
    } else {
        let said = format!(
            "it answers in {spoken} and lists only {}",
            versions.join(", ")
        );
        report.add(Finding::of(&discover::VERSIONS, said).seen(format!("← {result}")));
    }
}

async fn unknown_version(connection: &mut Connection<'_>) {
    let mut meta = connection.spoken.meta();
    meta[key::PROTOCOL_VERSION] = json!(NO_VERSION);
    let exchange = ask_with(connection, meta).await;
    let data = exchange
        .error()
        .map_or(&Value::Null, |error| &error["data"]);
    let is_right = exchange.code() == Some(code::UNSUPPORTED_PROTOCOL_VERSION)
        && data["supported"].is_array()
        && data["requested"].is_string();
    if is_right && is_bad_request(&exchange) {
        connection
            .report
            .ok(&discover::UNKNOWN_VERSION, "others are refused with -32022");
        return;
    }
    connection
        .report
        .add(exchange.unexpected(&discover::UNKNOWN_VERSION, &format!("version {NO_VERSION}")));
}

async fn missing_meta(connection: &mut Connection<'_>) {
    let mut meta = connection.spoken.meta();
    if let Some(members) = meta.as_object_mut() {
        members.shift_remove(key::CLIENT_CAPABILITIES);
    }
    let exchange = ask_with(connection, meta).await;
    if exchange.code() == Some(code::INVALID_PARAMS) && is_bad_request(&exchange) {
        connection
            .report
            .ok(&discover::META, "incomplete `_meta` is refused");
        return;
    }
    connection
        .report
        .add(exchange.unexpected(&discover::META, "a request without `clientCapabilities`"));
}

/// Discovery with another `_meta`; over HTTP the header has the same version.
async fn ask_with(connection: &mut Connection<'_>, meta: Value) -> Exchange {
    let id = connection.next_id();
    let message = connection
        .spoken
        .request(&id, "server/discover", json!({ "_meta": meta }));
    connection.send_as_written(message).await
}

/// Over HTTP, such errors have status 400.
fn is_bad_request(exchange: &Exchange) -> bool {
    exchange.status().is_none_or(|status| status == 400)
}
