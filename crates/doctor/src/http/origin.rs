//! Requests as a foreign web page would send them.

use serde_json::json;
use turnbuckle::transport::http::client::{HeaderMap, HeaderValue};

use crate::{
    connection::{Connection, Exchange, HttpTransport, Spoken},
    finding::Finding,
    table::origin,
};

const FOREIGN: &str = "http://turnbuckle-doctor.invalid";
const FOREIGN_HOST: &str = "turnbuckle-doctor.invalid";

pub(super) async fn look(connection: &mut Connection<'_>, transport: &HttpTransport) {
    connection.report.step("asking as a foreign web page would");
    let exchange = ask(connection, transport, &[("origin", FOREIGN)]).await;
    judge_origin(connection, &exchange);
    let exchange = ask(connection, transport, &[("host", FOREIGN_HOST)]).await;
    if exchange.result().is_some() {
        let said = format!("a request for the host `{FOREIGN_HOST}` is served");
        connection.report.add(exchange.finding(&origin::HOST, said));
    } else {
        connection
            .report
            .ok(&origin::HOST, "foreign hosts are refused");
    }
}

fn judge_origin(connection: &Connection<'_>, exchange: &Exchange) {
    let status = exchange.status().unwrap_or_default();
    if exchange.result().is_some() || (200..300).contains(&status) {
        let said = format!("a request of a page of `{FOREIGN}` is served");
        let finding = Finding::of(&origin::FOREIGN, said);
        connection.report.add(
            finding
                .seen(format!("→ Origin: {FOREIGN}"))
                .seen_all(exchange.evidence()),
        );
    } else if status == 403 {
        connection
            .report
            .ok(&origin::FOREIGN, "foreign pages are refused");
    } else {
        connection
            .report
            .add(exchange.unexpected(&origin::STATUS, "a request of a foreign page"));
    }
}

/// The same for HTTP+SSE: a page that gets the stream has a session.
pub(super) async fn look_at_events(connection: &Connection<'_>, transport: &HttpTransport) {
    connection.report.step("asking as a foreign web page would");
    let mut headers = HeaderMap::new();
    headers.insert("origin", HeaderValue::from_static(FOREIGN));
    let asked = transport.agent.events(&transport.address, headers);
    let Ok(Ok(reply)) = tokio::time::timeout(connection.limits.probe, asked).await else {
        return;
    };
    if reply.status().is_success() {
        let said = format!("a page of `{FOREIGN}` gets a stream of events");
        connection.report.add(Finding::of(&origin::FOREIGN, said));
    } else {
        connection
            .report
            .ok(&origin::FOREIGN, "foreign pages are refused");
    }
}

/// The first request of a client, with changed headers.
async fn ask(
    connection: &mut Connection<'_>,
    transport: &HttpTransport,
    changed: &[(&'static str, &str)],
) -> Exchange {
    let id = connection.next_id();
    let (method, params) = if connection.is_modern() {
        ("server/discover", json!({}))
    } else {
        let version = connection.spoken.revision();
        ("initialize", Spoken::initialize(version.as_str()))
    };
    let message = connection.spoken.request(&id, method, params);
    let mut post = transport.post(&connection.spoken, &message);
    for (name, value) in changed {
        post.headers.push((name, (*value).to_owned()));
    }
    transport.send(post, message, connection.limits.probe).await
}
