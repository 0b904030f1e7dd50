//! The answers of the endpoint to other HTTP methods and to bodies that are not JSON.

use serde_json::{Value, json};
use turnbuckle::{protocol::http::header, transport::http::client::Method};
use turnbuckle_base::error_chain;

use crate::{
    connection::{Answer, Connection, Exchange, Head, HttpTransport, Post, Transport, head},
    finding::Finding,
    table::http,
};

/// Checks that GET in a session opens a stream or is rejected.
pub(super) async fn look_legacy(connection: &mut Connection<'_>) {
    let Transport::Http(transport) = &connection.transport else {
        return;
    };
    let transport = transport.clone();
    connection
        .report
        .step("asking with GET, and with a body that is not JSON");
    let mut headers = vec![("accept", "text/event-stream".to_owned())];
    if let Some(session) = &transport.session {
        headers.push((header::SESSION_ID, session.clone()));
    }
    if connection.spoken.revision().rules().version_header {
        let version = connection.spoken.revision().to_string();
        headers.push((header::PROTOCOL_VERSION, version));
    }
    get(connection, &transport, headers).await;
    bad_json(connection, &transport).await;
}

/// Checks that a body that is not JSON is rejected, in each era.
pub(super) async fn look_modern(connection: &mut Connection<'_>, transport: &HttpTransport) {
    connection
        .report
        .step("asking with a body that is not JSON");
    bad_json(connection, transport).await;
}

/// Checks that a server without sessions rejects GET.
pub(super) async fn look_without_sessions(connection: &Connection<'_>, transport: &HttpTransport) {
    let headers = vec![("accept", "text/event-stream".to_owned())];
    get(connection, transport, headers).await;
}

/// Checks the head of the answer to GET; a stream is closed as soon as it opens.
async fn get(
    connection: &Connection<'_>,
    transport: &HttpTransport,
    headers: Vec<(&'static str, String)>,
) {
    let post = Post {
        method: Method::GET,
        headers,
        body: String::new(),
    };
    let reply = tokio::time::timeout(connection.limits.probe, transport.reply(post)).await;
    let (seen, said) = match reply {
        Ok(Ok(reply)) => {
            let head = head(&reply);
            match head.status {
                405 => {
                    connection.report.ok(&http::GET, "GET is refused with 405");
                    return;
                }
                200 if head.is_events() => {
                    connection.report.ok(&http::GET, "GET is a stream");
                    return;
                }
                status => {
                    let said = format!("GET is answered with HTTP {status} {}", head.media_type());
                    (shown(&head), said)
                }
            }
        }
        Ok(Err(error)) => (
            error_chain::in_one_line(&error),
            "GET is not answered".to_owned(),
        ),
        Err(_) => {
            // The server may only send the head with the first event, for which clients would wait in vain.
            let said = "GET is not answered in time, not even with a head";
            (String::new(), said.to_owned())
        }
    };
    let finding = Finding::of(&http::GET, said);
    connection.report.add(if seen.is_empty() {
        finding
    } else {
        finding.seen(seen)
    });
}

fn shown(head: &Head) -> String {
    format!("← HTTP {} content-type: {}", head.status, head.media_type())
}

async fn bad_json(connection: &Connection<'_>, transport: &HttpTransport) {
    let sent = json!({ "method": "(no JSON)" });
    let mut post = transport.post(&connection.spoken, &sent);
    "{ this is not JSON".clone_into(&mut post.body);
    let exchange = transport
        .send(post, Value::Null, connection.limits.probe)
        .await;
    let status = exchange.status().unwrap_or_default();
    if (400..500).contains(&status) {
        connection
            .report
            .ok(&http::BAD_JSON, "a body that is not JSON is refused");
        return;
    }
    let said = format!(
        "a body that is not JSON is answered with {}",
        came(&exchange)
    );
    let finding = Finding::of(&http::BAD_JSON, said);
    connection
        .report
        .add(finding.seen_all(exchange.evidence().into_iter().skip(1)));
}

fn came(exchange: &Exchange) -> String {
    match (&exchange.answer, exchange.status()) {
        (Answer::Message(_), Some(200)) => format!("HTTP 200 and {}", exchange.came()),
        _ => exchange.came(),
    }
}
