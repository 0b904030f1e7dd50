//! Checks of HTTP sessions: their ids, wrong versions, and their end.

use serde_json::json;
use turnbuckle::{protocol::http::header, transport::http::client::Method};

use crate::{
    connection::{Connection, Exchange, HttpTransport, Post, Spoken, Transport},
    discover::NO_VERSION,
    finding::Finding,
    handshake,
    table::{headers, session},
};

/// The shortest session id, 16 characters: 64 bits in hexadecimal. Shorter ids can be guessed.
const MIN_ID: usize = 16;

/// Checks the session of this connection, and ends it.
pub(super) async fn look(connection: &mut Connection<'_>, fresh: &HttpTransport) {
    connection.report.step("looking at sessions");
    version(connection).await;
    echo(connection, fresh).await;
    let Transport::Http(transport) = &connection.transport else {
        return;
    };
    let Some(id) = transport.session.clone() else {
        connection
            .report
            .ok(&session::ID, "no sessions: none is needed");
        return;
    };
    if id.is_empty() || !id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
        let said = "the id of a session has characters that are not visible ASCII";
        connection.report.add(Finding::of(&session::ID, said));
        return;
    }
    connection.report.ok(&session::ID, "ids are well formed");
    guessable(connection, fresh, &id).await;
    missing(connection).await;
    unknown(connection).await;
    delete(connection, &id).await;
}

/// Checks a request with a version that does not exist.
async fn version(connection: &mut Connection<'_>) {
    let Transport::Http(transport) = &connection.transport else {
        return;
    };
    let revision = connection.spoken.revision();
    if !revision.rules().version_header {
        return;
    }
    let transport = transport.clone();
    let id = connection.next_id();
    let message = connection.spoken.request(&id, "ping", json!({}));
    let mut post = transport.post(&connection.spoken, &message);
    for header in &mut post.headers {
        if header.0 == header::PROTOCOL_VERSION {
            NO_VERSION.clone_into(&mut header.1);
        }
    }
    let exchange = transport.send(post, message, connection.limits.probe).await;
    if exchange.status() == Some(400) {
        connection
            .report
            .ok(&headers::LEGACY_VERSION, "wrong versions are refused");
        return;
    }
    connection.report.add(exchange.unexpected(
        &headers::LEGACY_VERSION,
        &format!("`MCP-Protocol-Version: {NO_VERSION}`"),
    ));
}

/// Opens a session with a version that does not exist, and ends it again.
async fn echo(connection: &Connection<'_>, fresh: &HttpTransport) {
    let transport = Transport::Http(Box::new(fresh.clone()));
    let spoken = Spoken::Legacy(connection.spoken.revision());
    let mut other = Connection::new(transport, spoken, connection.limits, connection.report);
    let opened = handshake::look_at_echo(&mut other).await;
    let id = opened
        .head
        .as_ref()
        .and_then(|head| head.header(header::SESSION_ID));
    if let Some(id) = id {
        end(&other, fresh, id).await;
    }
}

/// Opens another session and compares the ids.
async fn guessable(connection: &Connection<'_>, fresh: &HttpTransport, id: &str) {
    let transport = Transport::Http(Box::new(fresh.clone()));
    let spoken = Spoken::Legacy(connection.spoken.revision());
    let mut other = Connection::new(transport, spoken, connection.limits, connection.report);
    let params = Spoken::initialize(connection.spoken.revision().as_str());
    let opened = other.ask("initialize", params).await;
    let second = opened
        .head
        .as_ref()
        .and_then(|head| head.header(header::SESSION_ID));
    let finding = if second == Some(id) {
        let said = "two sessions have the same id";
        Some(Finding::of(&session::GUESSABLE, said))
    } else if id.len() < MIN_ID {
        let said = format!("the id of a session has {} characters", id.len());
        Some(Finding::of(&session::GUESSABLE, said))
    } else {
        None
    };
    match finding {
        Some(finding) => connection.report.add(finding),
        None => connection.report.ok(&session::GUESSABLE, "ids differ"),
    }
    if let (Transport::Http(transport), Some(second)) = (&other.transport, second) {
        end(&other, transport, second).await;
    }
}

/// Sends a request without a session id, with an unknown one, or with the id of this session.
async fn ask(connection: &mut Connection<'_>, id: Option<&str>) -> Option<Exchange> {
    let number = connection.next_id();
    let Transport::Http(transport) = &connection.transport else {
        return None;
    };
    let mut transport = transport.clone();
    transport.session = id.map(str::to_owned);
    let message = connection.spoken.request(&number, "ping", json!({}));
    Some(
        transport
            .exchange(&connection.spoken, message, connection.limits.probe)
            .await,
    )
}

async fn missing(connection: &mut Connection<'_>) {
    let Some(exchange) = ask(connection, None).await else {
        return;
    };
    if exchange.status() == Some(400) {
        connection.report.ok(&session::MISSING, "an id is required");
        return;
    }
    connection
        .report
        .add(exchange.unexpected(&session::MISSING, "a request without an id"));
}

async fn unknown(connection: &mut Connection<'_>) {
    let unknown_id = "00000000-0000-4000-8000-000000000000";
    let Some(exchange) = ask(connection, Some(unknown_id)).await else {
        return;
    };
    if exchange.status() == Some(404) {
        connection
            .report
            .ok(&session::UNKNOWN, "unknown ids get 404");
        return;
    }
    connection
        .report
        .add(exchange.unexpected(&session::UNKNOWN, "a session that does not exist"));
}

async fn delete(connection: &mut Connection<'_>, id: &str) {
    let Transport::Http(transport) = &connection.transport else {
        return;
    };
    let ended = end(connection, transport, id).await;
    let status = ended.status().unwrap_or_default();
    if status == 405 {
        connection
            .report
            .ok(&session::DELETE, "DELETE is refused with 405");
        return;
    }
    if !(200..300).contains(&status) {
        connection
            .report
            .add(ended.unexpected(&session::DELETE, "DELETE"));
        return;
    }
    connection.report.ok(&session::DELETE, "DELETE ends them");
    let Some(exchange) = ask(connection, Some(id)).await else {
        return;
    };
    if exchange.status() == Some(404) {
        connection.report.ok(&session::ENDED, "and they are gone");
        return;
    }
    let said = format!(
        "after DELETE a session is answered with {}",
        exchange.came()
    );
    let is_served = exchange.result().is_some();
    let check = if is_served {
        &session::UNDEAD
    } else {
        &session::ENDED
    };
    connection.report.add(exchange.finding(check, said));
}

/// Ends a session.
pub(super) async fn end(
    connection: &Connection<'_>,
    transport: &HttpTransport,
    id: &str,
) -> Exchange {
    let mut headers = vec![(header::SESSION_ID, id.to_owned())];
    if connection.spoken.revision().rules().version_header {
        let version = connection.spoken.revision().to_string();
        headers.push((header::PROTOCOL_VERSION, version));
    }
    let post = Post {
        method: Method::DELETE,
        headers,
        body: String::new(),
    };
    let sent = json!({ "method": "DELETE" });
    transport.send(post, sent, connection.limits.probe).await
}
