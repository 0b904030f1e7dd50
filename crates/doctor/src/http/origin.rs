//! Requests as a web page of somebody else would send them.

use serde_json::json;
use turnbuckle::transport::http::client::{HeaderMap, HeaderValue};

use crate::{
    finding::Finding,
    table::origin,
    talk::{Exchange, HttpRoad, Speech, Talk},
};

const FOREIGN: &str = "http://turnbuckle-doctor.invalid";
const FOREIGN_HOST: &str = "turnbuckle-doctor.invalid";

pub(super) async fn look(talk: &mut Talk<'_>, road: &HttpRoad) {
    talk.report.step("asking as a foreign web page would");
    let exchange = ask(talk, road, &[("origin", FOREIGN)]).await;
    judge_origin(talk, &exchange);
    let exchange = ask(talk, road, &[("host", FOREIGN_HOST)]).await;
    if exchange.result().is_some() {
        let said = format!("a request for the host `{FOREIGN_HOST}` is served");
        let finding = Finding::of(&origin::HOST, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
    } else {
        talk.report.ok(&origin::HOST, "foreign hosts are refused");
    }
}

fn judge_origin(talk: &Talk<'_>, exchange: &Exchange) {
    let status = exchange.status().unwrap_or_default();
    if exchange.result().is_some() || (200..300).contains(&status) {
        let said = format!("a request of a page of `{FOREIGN}` is served");
        let finding = Finding::of(&origin::FOREIGN, said);
        talk.report.add(
            finding
                .seen(format!("→ Origin: {FOREIGN}"))
                .seen_all(exchange.evidence()),
        );
    } else if status == 403 {
        talk.report
            .ok(&origin::FOREIGN, "foreign pages are refused");
    } else {
        let said = format!(
            "a request of a foreign page is answered with {}",
            exchange.came()
        );
        let finding = Finding::of(&origin::STATUS, said);
        talk.report.add(finding.seen_all(exchange.evidence()));
    }
}

/// The same for HTTP+SSE: a page that gets the stream has a session.
pub(super) async fn look_at_events(talk: &Talk<'_>, road: &HttpRoad) {
    talk.report.step("asking as a foreign web page would");
    let mut headers = HeaderMap::new();
    headers.insert("origin", HeaderValue::from_static(FOREIGN));
    let asked = road.agent.events(&road.address, headers);
    let Ok(Ok(reply)) = tokio::time::timeout(talk.patience.probe, asked).await else {
        return;
    };
    if reply.status().is_success() {
        let said = format!("a page of `{FOREIGN}` gets a stream of events");
        talk.report.add(Finding::of(&origin::FOREIGN, said));
    } else {
        talk.report
            .ok(&origin::FOREIGN, "foreign pages are refused");
    }
}

/// The first request of a client, with other headers.
async fn ask(talk: &mut Talk<'_>, road: &HttpRoad, changed: &[(&'static str, &str)]) -> Exchange {
    let id = talk.next_id();
    let (method, params) = if talk.is_modern() {
        ("server/discover", json!({}))
    } else {
        let version = talk.speech.revision();
        ("initialize", Speech::initialize(version.as_str()))
    };
    let message = talk.speech.request(&id, method, params);
    let mut post = road.post(&talk.speech, &message);
    for (name, value) in changed {
        post.headers.push((name, (*value).to_owned()));
    }
    road.send(post, message, talk.patience.probe).await
}
