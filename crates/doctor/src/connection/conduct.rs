//! Checks that apply to every answer.

use serde_json::Value;
use turnbuckle::protocol::error::code;
use turnbuckle_command_line::style::elapsed;

use super::{Answer, Exchange, Head, Spoken};
use crate::{
    finding::Finding,
    limits::SLOW,
    report::Report,
    table::{discover, http, methods, time},
};

/// Codes that 2026-07-28 reserves, in addition to those it defines.
const RESERVED: std::ops::RangeInclusive<i64> = -32_099..=-32_023;

/// Checks an exchange.
pub(crate) fn look(report: &Report, spoken: &Spoken, exchange: &Exchange) {
    if let Some(head) = &exchange.head {
        look_at_head(report, head, exchange);
        if spoken.is_modern() {
            stream(report, exchange);
        }
    }
    let Answer::Message(message) = &exchange.answer else {
        return;
    };
    let found = |check, said: String| {
        let place = format!("`{}`", exchange.method());
        report.add(
            Finding::of(check, said)
                .at(place)
                .seen_all(exchange.evidence()),
        );
    };
    if let Some(wrong) = envelope(message) {
        found(&methods::ENVELOPE, wrong.to_owned());
    }
    let (sent, came) = (&exchange.sent["id"], &message["id"]);
    // An error about a message whose id could not be read has no id.
    let is_unread = came.is_null() && message.get("error").is_some();
    if sent != came && !is_unread {
        found(
            &methods::ID,
            "an answer has another id than its request".to_owned(),
        );
    }
    if let Some(error) = exchange.error().filter(|error| !error.is_null())
        && !(error["code"].is_i64() && error["message"].is_string())
    {
        found(
            &methods::ERROR,
            "an error has no integer `code` or no `message`".to_owned(),
        );
    }
    if spoken.is_modern() {
        look_modern(exchange, &found);
    }
}

/// Checks how long an answer took.
pub(crate) fn pace(report: &Report, exchange: &Exchange) {
    let is_answered = matches!(exchange.answer, Answer::Message(_));
    if is_answered && exchange.took > SLOW && exchange.method() != "tools/call" {
        let said = "an answer is slow".to_owned();
        let place = format!("`{}`, {}", exchange.method(), elapsed(exchange.took));
        report.add(Finding::of(&time::SLOW, said).at(place));
    }
}

fn look_at_head(report: &Report, head: &Head, exchange: &Exchange) {
    if head.status >= 500 {
        let said = format!("a request is answered with HTTP {}", head.status);
        let place = format!("`{}`", exchange.method());
        report.add(exchange.finding(&http::SERVER_ERROR, said).at(place));
    }
    let media_type = head.media_type();
    let is_right = ["application/json", "text/event-stream"].contains(&media_type.as_str());
    if matches!(exchange.answer, Answer::Message(_)) && !is_right {
        let said = format!("a message comes as `{media_type}`");
        let finding = Finding::of(&http::CONTENT_TYPE, said);
        let place = format!("`{}`", exchange.method());
        report.add(finding.at(place).seen_all(exchange.evidence()));
    }
}

/// Checks the head of an event stream.
pub(crate) fn stream(report: &Report, exchange: &Exchange) {
    let Some(head) = exchange.head.as_ref().filter(|head| head.is_events()) else {
        return;
    };
    let is_unbuffered = head
        .header("x-accel-buffering")
        .is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if is_unbuffered {
        report.ok(&http::BUFFERING, "streams are not buffered");
    } else {
        let said = "streams of events come without `X-Accel-Buffering: no`";
        let place = format!("`{}`", exchange.method());
        report.add(Finding::of(&http::BUFFERING, said).at(place));
    }
}

fn look_modern(exchange: &Exchange, found: &impl Fn(&'static crate::check::Check, String)) {
    if exchange
        .result()
        .is_some_and(|result| !result["resultType"].is_string())
    {
        found(
            &discover::RESULT_TYPE,
            "a result has no `resultType`".to_owned(),
        );
    }
    let is_request = |heard: &Value| heard.get("method").is_some() && heard.get("id").is_some();
    if let Some(request) = exchange.heard.iter().find(|heard| is_request(heard)) {
        found(
            &discover::REQUESTS,
            format!("the server sent the request `{}`", request["method"]),
        );
    }
    if let Some(code) = exchange.code()
        && (RESERVED.contains(&code)
            || [code::RESOURCE_NOT_FOUND, code::URL_ELICITATION_REQUIRED].contains(&code))
    {
        found(&discover::CODES, format!("an error has the code {code}"));
    }
}

/// The problem with the envelope of an answer, if there is one.
fn envelope(message: &Value) -> Option<&'static str> {
    let has = |member| message.get(member).is_some();
    if message["jsonrpc"] != "2.0" {
        return Some("an answer does not say `\"jsonrpc\": \"2.0\"`");
    }
    match (has("result"), has("error")) {
        (true, true) => Some("an answer has both a result and an error"),
        (false, false) => Some("an answer has neither a result nor an error"),
        _ => None,
    }
}
