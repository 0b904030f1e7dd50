//! Checks of the headers of 2026-07-28: requests without them, and with wrong values.

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
    connection::{Connection, Exchange, HttpTransport, conduct},
    methods::NO_SUCH_NAME,
    table::headers,
};

/// A name that a header can only carry encoded.
const FOREIGN_NAME: &str = "turnbuckle-doctor-ünknown";

pub(super) async fn look(connection: &mut Connection<'_>, transport: &HttpTransport) {
    connection.report.step("looking at how headers are checked");
    let older = Revision::LATEST_LEGACY.to_string();
    let discovery = ("server/discover", json!({}));
    // The tool does not exist, so nothing runs, whatever the server makes of the headers.
    let call = (
        "tools/call",
        json!({ "name": NO_SUCH_NAME, "arguments": {} }),
    );
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
        let exchange = ask(connection, transport, method, params, name, value).await;
        if exchange.status() == Some(400) && exchange.code() == Some(code::HEADER_MISMATCH) {
            connection.report.ok(check, format!("`{name}` is checked"));
            continue;
        }
        let said = format!("it is answered with {}", exchange.came());
        let what = check.id.rsplit('.').next().unwrap_or_default();
        connection
            .report
            .add(exchange.finding(check, format!("{}: {said}", what.replace('-', " "))));
    }
    version_missing(connection, transport, discovery).await;
    encoded(connection, transport).await;
}

/// Without the version header, a server of both eras may treat the request as one of an older revision.
async fn version_missing(
    connection: &mut Connection<'_>,
    transport: &HttpTransport,
    what: (&str, Value),
) {
    let (method, params) = what;
    let exchange = ask(
        connection,
        transport,
        method,
        params,
        header::PROTOCOL_VERSION,
        None,
    )
    .await;
    let is_served = exchange
        .result()
        .is_some_and(|result| result["resultType"].is_string());
    if is_served {
        let said = "a request without `MCP-Protocol-Version` is served";
        connection
            .report
            .add(exchange.finding(&headers::VERSION_MISSING, said));
    } else {
        connection
            .report
            .ok(&headers::VERSION_MISSING, "and required");
    }
}

/// Checks a name in the encoding for values that headers cannot carry.
async fn encoded(connection: &mut Connection<'_>, transport: &HttpTransport) {
    let params = json!({ "name": FOREIGN_NAME, "arguments": {} });
    let value = Some(encode(FOREIGN_NAME).into_owned());
    let exchange = ask(
        connection,
        transport,
        "tools/call",
        params,
        header::NAME,
        value,
    )
    .await;
    if exchange.code() == Some(code::HEADER_MISMATCH) {
        let said = "an encoded name is taken for another";
        connection
            .report
            .add(exchange.finding(&headers::ENCODED, said));
    } else {
        connection
            .report
            .ok(&headers::ENCODED, "encoded names are read");
    }
}

/// Sends a request with one header changed or removed.
async fn ask(
    connection: &mut Connection<'_>,
    transport: &HttpTransport,
    method: &str,
    params: Value,
    name: &str,
    value: Option<String>,
) -> Exchange {
    let id = connection.next_id();
    let message = connection.spoken.request(&id, method, params);
    let mut post = transport.post(&connection.spoken, &message);
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
    let exchange = transport.send(post, message, connection.limits.probe).await;
    conduct::look(connection.report, &connection.spoken, &exchange);
    exchange
}
