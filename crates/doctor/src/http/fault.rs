//! Explains responses that are not from an MCP server.

use turnbuckle::{
    protocol::error::code,
    transport::http::client::{Address, AgentSettings},
};

use super::nearby;
use crate::{
    connection::{Answer, Exchange, HttpTransport},
    finding::Finding,
    limits::Limits,
    network,
    report::Report,
    table::{connect, http},
};

pub(super) fn is_redirect(exchange: &Exchange) -> bool {
    exchange
        .status()
        .is_some_and(|status| [301, 302, 303, 307, 308].contains(&status))
}

/// The target of a redirect, if it stays on the same server.
pub(super) fn redirect(report: &Report, at: &Address, exchange: &Exchange) -> Option<Address> {
    if !is_redirect(exchange) {
        return None;
    }
    let head = exchange.head.as_ref()?;
    let to = head.header("location").unwrap_or_default();
    let next = at.join(to).ok();
    let shown = next
        .as_ref()
        .map_or_else(|| to.to_owned(), Address::to_string);
    let said = format!("HTTP {} leads to {shown}", head.status);
    report.add(exchange.finding(&http::REDIRECT, said));
    match next {
        Some(next) if next.is_same_origin(at) => Some(next),
        _ => {
            let said = format!("the server redirects to {shown}");
            report.add(Finding::of(&http::NO_ENDPOINT, said));
            None
        }
    }
}

/// Reports why no HTTP exchange was possible, if so.
pub(super) async fn cannot_talk(
    transport: &HttpTransport,
    first: &Exchange,
    report: &Report,
    settings: &AgentSettings,
    limits: Limits,
) -> bool {
    if first.status() == Some(407) {
        let said = "the proxy requires credentials";
        report.add(first.finding(&connect::PROXY, said));
        return true;
    }
    let (Answer::Gone(how), None) = (&first.answer, &first.head) else {
        return false;
    };
    if let Some(finding) = network::distrust(how) {
        // An expired certificate was already reported.
        if !report.has(finding.check) {
            report.add(finding);
        }
        return true;
    }
    if let Ok(Some(proxy)) = settings.proxy_before(&transport.address) {
        let said = format!("the proxy {proxy} does not let the request through");
        report.add(first.finding(&connect::PROXY, said));
        return true;
    }
    if network::look(report, &transport.address, limits).await {
        return true;
    }
    let said = "the connection ends without an answer";
    report.add(first.finding(&http::NOT_HTTP, said));
    true
}

/// Reports what answered instead of an MCP server. Returns `false` if it is unknown.
pub(super) async fn explain(
    report: &Report,
    transport: &HttpTransport,
    answers: &[&Exchange],
    limits: Limits,
) -> bool {
    for exchange in answers {
        let Some(head) = &exchange.head else { continue };
        let is_page = head.media_type() == "text/html"
            || matches!(&exchange.answer, Answer::Other(body) if is_html(body));
        // A server of MCP may say in a JSON-RPC error that it serves nothing at this path.
        let is_about_path = exchange
            .code()
            .is_none_or(|found| found == code::INVALID_REQUEST);
        let is_missing = matches!(head.status, 404 | 405 | 410) && is_about_path;
        if is_page && !is_missing {
            let said = format!("the answer is a web page (HTTP {})", head.status);
            let finding = exchange.finding(&http::PAGE, said);
            report.add(with_nearby(finding, transport, limits).await);
            return true;
        }
        if head.status >= 500 {
            // Every exchange reports it.
            return report.has(&http::SERVER_ERROR);
        }
        if is_missing {
            let said = format!("there is no endpoint here: HTTP {}", head.status);
            let finding = exchange.finding(&http::NO_ENDPOINT, said);
            report.add(with_nearby(finding, transport, limits).await);
            return true;
        }
    }
    false
}

fn is_html(body: &str) -> bool {
    let start = body.trim_start().get(..9).unwrap_or_default();
    start.eq_ignore_ascii_case("<!doctype") || start.to_ascii_lowercase().starts_with("<html")
}

async fn with_nearby(finding: Finding, transport: &HttpTransport, limits: Limits) -> Finding {
    match nearby::find(transport, limits).await {
        Some(place) => finding.seen(format!("there is an endpoint at {place}")),
        None => finding,
    }
}
