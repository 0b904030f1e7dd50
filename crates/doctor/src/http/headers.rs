//! The headers of 2026-07-28, left out and falsified.

use serde_json::{Value, json};
use turnbuckle::{
    Revision,
    protocol::{
        error::code,
        http::{encode, header},
    },
};

use crate::{
    check::Check,
    finding::Finding,
    methods::NOBODY,
    table::headers,
    talk::{Exchange, HttpRoad, Talk, conduct},
};

/// A name that no header can carry as it is.
const FOREIGN_NAME: &str = "turnbuckle-doctor-ünknown";

pub(super) async fn look(talk: &mut Talk<'_>, road: &HttpRoad) {
    talk.report.step("looking at how headers are checked");
    let older = Revision::LATEST_LEGACY.to_string();
    let discovery = ("server/discover", json!({}));
    // A tool that does not exist: nothing runs, whatever the server makes of the headers.
    let call = ("tools/call", json!({ "name": NOBODY, "arguments": {} }));
    let cases: [(&'static Check, _, &str, Option<String>); 4] = [
        (
            &headers::VERSION_MISMATCH,
            discovery.clone(),
            header::PROTOCOL_VERSION,
            Some(older),
        ),
        (
            &headers::METHOD_MISSING,
            discovery.clone(),
            header::METHOD,
            None,
        ),
        (
            &headers::METHOD_MISMATCH,
            discovery.clone(),
            header::METHOD,
            Some("tools/list".to_owned()),
        ),
        (
            &headers::NAME_MISMATCH,
            call,
            header::NAME,
            Some("another".to_owned()),
        ),
    ];
    for (check, (method, params), name, value) in cases {
        let exchange = ask(talk, road, method, params, name, value).await;
        if exchange.status() == Some(400) && exchange.code() == Some(code::HEADER_MISMATCH) {
            talk.report.ok(check, format!("`{name}` is checked"));
            continue;
        }
        let said = format!("it is answered with {}", exchange.came());
        let what = check.id.rsplit('.').next().unwrap_or_default();
        let finding = Finding::of(check, format!("{}: {said}", what.replace('-', " ")));
        talk.report.add(finding.seen_all(exchange.evidence()));
    }
    version_missing(talk, road, discovery).await;
    encoded(talk, road).await;
}

/// A server of both eras may take a request without the header for an older one.
async fn version_missing(talk: &mut Talk<'_>, road: &HttpRoad, what: (&str, Value)) {
    let (method, params) = what;
    let exchange = ask(talk, road, method, params, header::PROTOCOL_VERSION, None).await;
    let is_served = exchange
        .result()
        .is_some_and(|result| result["resultType"].is_string());
    if is_served {
        let said = "a request without `MCP-Protocol-Version` is served";
        let finding = Finding::of(&headers::VERSION_MISSING, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
    } else {
        talk.report.ok(&headers::VERSION_MISSING, "and required");
    }
}

/// A name in the encoding for what headers cannot carry.
async fn encoded(talk: &mut Talk<'_>, road: &HttpRoad) {
    let params = json!({ "name": FOREIGN_NAME, "arguments": {} });
    let value = Some(encode(FOREIGN_NAME).into_owned());
    let exchange = ask(talk, road, "tools/call", params, header::NAME, value).await;
    if exchange.code() == Some(code::HEADER_MISMATCH) {
        let said = "an encoded name is taken for another";
        let finding = Finding::of(&headers::ENCODED, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
    } else {
        talk.report.ok(&headers::ENCODED, "encoded names are read");
    }
}

/// Sends a request with one header changed, or without it.
async fn ask(
    talk: &mut Talk<'_>,
    road: &HttpRoad,
    method: &str,
    params: Value,
    name: &str,
    value: Option<String>,
) -> Exchange {
    let id = talk.next_id();
    let message = talk.speech.request(&id, method, params);
    let mut post = road.post(&talk.speech, &message);
    match value {
        Some(value) => {
            for header in &mut post.headers {
                if header.0 == name {
                    header.1.clone_from(&value);
                }
            }
        }
        None => post.headers.retain(|(own, _)| *own != name),
    }
    let exchange = road.send(post, message, talk.patience.probe).await;
    conduct::look(talk.report, &talk.speech, &exchange);
    exchange
}
