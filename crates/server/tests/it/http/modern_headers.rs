//! Headers that mirror the body: streamable-http, "Server Validation".

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::{RawArgs, Server, SetupError, Tool};

use super::{
    ask::{Ask, call, notice, request},
    raw::Raw,
    site::{Session, Site},
};

/// The status and the code of the answer to a request; 0 for a result.
async fn verdict(site: &Site, ask: Ask) -> (u16, i64) {
    let answer = site.ask(ask).await;
    let code = answer.json()["error"]["code"].as_i64();
    if code.is_some() {
        assert_eq!(answer.json()["id"], 1, "{}", answer.text());
    }
    (answer.status(), code.unwrap_or(0))
}

const MISMATCH: (u16, i64) = (400, -32020);
const FINE: (u16, i64) = (200, 0);

// rule: X2
#[tokio::test]
async fn headers_that_differ_from_the_body_are_refused() {
    let site = Site::start().await;
    let call = || Ask::call("now", json!({}));
    let list = || Ask::modern("tools/list", json!({}));
    let table = [
        (call(), FINE),
        (call().without("mcp-protocol-version"), MISMATCH),
        (call().with("mcp-protocol-version", "2025-11-25"), MISMATCH),
        (call().with("mcp-protocol-version", "v999.0.0"), MISMATCH),
        (call().without("mcp-method"), MISMATCH),
        (call().with("mcp-method", "tools/list"), MISMATCH),
        (call().with("mcp-method", "Tools/Call"), MISMATCH),
        (
            call().with("mcp-method", "=?base64?dG9vbHMvY2FsbA==?="),
            MISMATCH,
        ),
        (call().without("mcp-name"), MISMATCH),
        (call().with("mcp-name", "NOW"), MISMATCH),
        (call().with("mcp-name", ""), MISMATCH),
        (call().with("mcp-name", "=?base64?bm93?="), FINE),
        (call().with("mcp-name", "=?base64?bm9?="), MISMATCH),
        (call().with("mcp-name", "=?base64?bm93"), MISMATCH),
        (call().with("mcp-name", "  now \t"), FINE),
        (call().without("mcp-name").with("MCP-NAME", "now"), FINE),
        (list(), FINE),
        (list().with("mcp-name", "whatever"), FINE),
        (list().with("mcp-method", "tools/call"), MISMATCH),
    ];
    for revision in with_mirrored_headers() {
        for (ask, expected) in table.clone() {
            let ask = ask.at_revision(revision);
            assert_eq!(verdict(&site, ask.clone()).await, expected, "{ask:?}");
        }
    }
}

/// The modern revisions whose requests repeat parts of their body in headers.
fn with_mirrored_headers() -> impl Iterator<Item = Revision> {
    let all = Revision::MODERN.iter().copied();
    all.filter(|revision| revision.rules().mirrored_headers)
}

/// Each request is checked by the rules of its own revision, even if the newest requires more.
#[tokio::test]
async fn headers_bind_by_the_rules_of_the_request_s_revision() {
    let site = Site::start().await;
    assert!(with_mirrored_headers().any(|revision| revision == Revision::V2026_07_28));
    for &revision in Revision::MODERN {
        let binds = revision.rules().mirrored_headers;
        let expected = if binds { MISMATCH } else { FINE };
        let call = || Ask::call("now", json!({})).at_revision(revision);
        for ask in [
            call().with("mcp-name", "other"),
            call().with("mcp-method", "tools/list"),
            call().without("mcp-method").without("mcp-name"),
        ] {
            assert_eq!(verdict(&site, ask.clone()).await, expected, "{ask:?}");
        }
        let ask = call().with("mcp-protocol-version", "2025-11-25");
        assert_eq!(verdict(&site, ask.clone()).await, MISMATCH, "{ask:?}");
    }
}

#[tokio::test]
async fn a_header_that_is_there_twice_is_refused() {
    let site = Site::start().await;
    let call = || Ask::call("mirrored", json!({ "region": "eu" })).with("mcp-param-region", "eu");
    for name in [
        "mcp-name",
        "mcp-method",
        "mcp-protocol-version",
        "mcp-param-region",
    ] {
        for value in ["other", "eu", "tools/call"] {
            let ask = call().also(name, value);
            assert_eq!(verdict(&site, ask.clone()).await, MISMATCH, "{ask:?}");
            assert!(site.ask(ask).await.text().contains(name), "{name}");
        }
    }
    // These are used before the request is parsed.
    for name in ["host", "content-type", "last-event-id"] {
        let ask = call().with(name, "localhost").also(name, "other");
        let answer = site.ask(ask).await;
        assert_eq!(answer.status(), 400, "{name}");
        assert!(answer.text().contains(name), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_repeated_header_is_refused_in_a_session_too() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_03_26).await;
    let own = |ask: Ask| session.own(ask).also("mcp-session-id", "other");
    let asks = [
        (own(Ask::post(call(7, "now"))), json!(7)),
        (own(Ask::post(json!([call(7, "now")]))), Value::Null),
        (
            own(Ask::post(notice("notifications/initialized", json!({})))),
            Value::Null,
        ),
        (own(Ask::get()), Value::Null),
        (own(Ask::new("DELETE", "/mcp")), Value::Null),
    ];
    for (ask, id) in asks {
        let answer = site.ask(ask.clone()).await;
        assert_eq!((answer.status(), answer.code()), MISMATCH, "{ask:?}");
        assert_eq!(answer.json()["id"], id, "{ask:?}");
    }
    assert_eq!(session.post(call(7, "now")).await.status(), 200);
}

#[tokio::test]
async fn a_repeated_header_is_refused_at_the_places_of_http_sse_too() {
    let site = Site::start().await;
    let open = Ask::new("GET", "/sse").with("accept", "text/event-stream");
    let post = Ask::post(call(7, "now")).at("/messages?session=1");
    for ask in [open, post] {
        let ask = ask.with("mcp-method", "a").also("mcp-method", "b");
        let answer = site.ask(ask.clone()).await;
        assert_eq!((answer.status(), answer.code()), MISMATCH, "{ask:?}");
    }
}

// The error for a message whose id cannot be read has the form of the session's revision.
#[tokio::test]
async fn an_unreadable_message_is_answered_in_the_form_of_its_session() {
    let site = Site::start().await;
    for (revision, has_id) in [
        (Revision::V2025_03_26, true),
        (Revision::V2025_06_18, true),
        (Revision::V2025_11_25, false),
    ] {
        let session = Session::open(&site, revision).await;
        let answer = session.ask(Ask::post("").body("{")).await;
        assert_eq!(
            (answer.status(), answer.code()),
            (400, -32700),
            "{revision}"
        );
        let answer = answer.json();
        assert_eq!(answer.get("id").is_some(), has_id, "{revision}");
    }
    let answer = site.ask(Ask::post("").body("{")).await.json();
    assert_eq!(answer.get("id"), None);
}

// basic: the error for a request that lacks a field names the field.
#[tokio::test]
async fn only_what_is_missing_is_named() {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    let site = Site::start().await;
    let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: {} });
    for (present, missing) in [
        (vec![CAPABILITIES], vec![VERSION]),
        (vec![VERSION], vec![CAPABILITIES]),
        (vec![], vec![VERSION, CAPABILITIES]),
    ] {
        let own: serde_json::Map<_, _> = present
            .iter()
            .map(|name| ((*name).to_owned(), meta[*name].clone()))
            .collect();
        let message = request(1, "tools/list", json!({ "_meta": own }));
        let ask = Ask::post(message)
            .with("mcp-protocol-version", "2026-07-28")
            .with("mcp-method", "tools/list");
        let answer = site.ask(ask).await;
        assert_eq!((answer.status(), answer.code()), (400, -32602));
        let text = answer.json()["error"]["message"].to_string();
        assert!(missing.iter().all(|name| text.contains(name)), "{text}");
        assert!(!present.iter().any(|name| text.contains(name)), "{text}");
    }
}

// Only modern clients declare capabilities in each request. If such a client sends no version
// anywhere, the error says so, and does not tell it to send `initialize`.
#[tokio::test]
async fn a_request_that_forgot_its_version_everywhere_is_told_so() {
    let site = Site::start().await;
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": {} });
    for version in [None, Some("2025-06-18")] {
        let message = request(1, "tools/list", json!({ "_meta": meta }));
        let mut ask = Ask::post(message);
        if let Some(version) = version {
            ask = ask.with("mcp-protocol-version", version);
        }
        let answer = site.ask(ask).await;
        assert_eq!(
            (answer.status(), answer.code()),
            (400, -32602),
            "{version:?}"
        );
        let text = answer.json()["error"]["message"].to_string();
        assert!(
            text.contains("io.modelcontextprotocol/protocolVersion"),
            "{text}"
        );
        assert!(!text.contains("initialize"), "{text}");
    }
}

#[tokio::test]
async fn a_compressed_body_is_an_unsupported_type() {
    let site = Site::start().await;
    let call = || Ask::call("now", json!({}));
    for encoding in ["gzip", "br", "identity, gzip", ""] {
        let answer = site.ask(call().with("content-encoding", encoding)).await;
        assert_eq!(answer.status(), 415, "{encoding}");
        assert_eq!(answer.head.get("accept-encoding"), Some("identity"));
    }
    let twice = call()
        .with("content-encoding", "identity")
        .also("content-encoding", "gzip");
    assert_eq!(site.ask(twice).await.status(), 415);
    let plain = call().with("content-encoding", "Identity");
    assert_eq!(verdict(&site, plain).await, FINE);
    let posted = Ask::post(request(1, "ping", json!({})))
        .at("/messages?session=1")
        .with("content-encoding", "gzip");
    assert_eq!(site.ask(posted).await.status(), 415);
}

#[tokio::test]
async fn a_transfer_coding_besides_chunked_cannot_be_read() {
    let site = Site::start().await;
    for (coding, status) in [
        ("gzip, chunked", 501),
        ("gzip\r\ntransfer-encoding: chunked", 501),
        ("identity, chunked", 501),
        ("Chunked", 200),
        (",chunked", 200),
    ] {
        let ask = Ask::call("now", json!({}));
        let plain = String::from_utf8(ask.to_bytes()).expect("a request is text");
        let (head, body) = plain.split_once("\r\n\r\n").expect("a head and a body");
        let head = head
            .lines()
            .filter(|line| !line.starts_with("content-length"));
        let head = head.collect::<Vec<_>>().join("\r\n");
        let chunk = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
        let request = format!("{head}\r\ntransfer-encoding: {coding}\r\n\r\n{chunk}");
        let mut raw = Raw::connect(site.address).await;
        raw.send(request.as_bytes()).await;
        assert_eq!(raw.answer().await.status(), status, "{coding}");
        // The connection is still in step.
        assert_eq!(raw.ask(ask).await.status(), 200, "{coding}");
    }
}

fn mirrored(arguments: Value, headers: &[(&str, &str)]) -> Ask {
    headers
        .iter()
        .fold(Ask::call("mirrored", arguments), |ask, (name, value)| {
            ask.with(&format!("mcp-param-{name}"), value)
        })
}

// rule: X4
#[tokio::test]
async fn arguments_are_mirrored_where_the_tool_says_so() {
    let site = Site::start().await;
    let greeting = json!({ "region": "Hello" });
    let table = [
        (mirrored(json!({}), &[]), FINE),
        (mirrored(json!({ "region": null }), &[]), FINE),
        (
            mirrored(json!({ "region": "eu" }), &[("Region", "eu")]),
            FINE,
        ),
        (mirrored(json!({ "region": "eu" }), &[]), MISMATCH),
        (
            mirrored(json!({ "region": "eu" }), &[("Region", "us")]),
            MISMATCH,
        ),
        (
            mirrored(json!({ "region": "eu" }), &[("Region", "EU")]),
            MISMATCH,
        ),
        (
            mirrored(greeting.clone(), &[("Region", "=?base64?SGVsbG8=?=")]),
            FINE,
        ),
        (
            mirrored(greeting.clone(), &[("Region", "=?base64?SGVsbG8?=")]),
            MISMATCH,
        ),
        (
            mirrored(greeting.clone(), &[("Region", "=?base64?SGVs!G8=?=")]),
            MISMATCH,
        ),
        (mirrored(greeting, &[("Region", "SGVsbG8=")]), MISMATCH),
        (
            mirrored(json!({ "region": "SGVsbG8=" }), &[("Region", "SGVsbG8=")]),
            FINE,
        ),
        (
            mirrored(
                json!({ "region": "Grüße" }),
                &[("Region", "=?base64?R3LDvMOfZQ==?=")],
            ),
            FINE,
        ),
        (mirrored(json!({ "region": "" }), &[("Region", "")]), FINE),
        (mirrored(json!({ "row": 42 }), &[("Row", "42")]), FINE),
        (mirrored(json!({ "row": 42.0 }), &[("Row", "42")]), FINE),
        (mirrored(json!({ "row": 42 }), &[("Row", "43")]), MISMATCH),
        (
            mirrored(json!({ "window": true }), &[("Window", "true")]),
            FINE,
        ),
        (
            mirrored(json!({ "window": true }), &[("Window", "false")]),
            MISMATCH,
        ),
    ];
    for revision in with_mirrored_headers() {
        for (ask, expected) in table.clone() {
            let ask = ask.at_revision(revision);
            assert_eq!(verdict(&site, ask.clone()).await, expected, "{ask:?}");
        }
    }
}

#[test]
fn a_tool_whose_annotation_is_invalid_is_a_setup_error() {
    let table = [
        json!({ "a": { "type": "string", "x-mcp-header": "" } }),
        json!({ "a": { "type": "string", "x-mcp-header": "a b" } }),
        json!({ "a": { "type": "string", "x-mcp-header": "a:b" } }),
        json!({ "a": { "type": "string", "x-mcp-header": 7 } }),
        json!({ "a": { "type": "number", "x-mcp-header": "A" } }),
        json!({ "a": { "type": "array", "x-mcp-header": "A" } }),
        json!({
            "a": { "type": "string", "x-mcp-header": "Same" },
            "b": { "type": "string", "x-mcp-header": "same" },
        }),
        json!({ "a": { "type": "array", "items": { "type": "string", "x-mcp-header": "A" } } }),
    ];
    for properties in table {
        let schema = json!({ "type": "object", "properties": properties });
        let tool = Tool::new("t", async |RawArgs(_): RawArgs| "").input_schema(schema);
        let built = Server::new("s", "1").tool(tool).build();
        let error = built
            .err()
            .unwrap_or_else(|| panic!("{properties} was taken"));
        assert!(
            matches!(&error, SetupError::Invalid { kind: "tool", key, .. } if key == "t"),
            "{error:?}"
        );
    }
}
