//! A table of invalid requests, each with its documented answer. A valid client is served
//! meanwhile.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;

use super::{
    ask::{Ask, call, request},
    raw::Raw,
    site::{Session, Site},
};

/// A request, the status of its answer, and the code in it (0 if the answer has no message).
type Row = (Ask, u16, i64);

#[expect(clippy::too_many_lines, reason = "a table")]
fn requests(session: &Session) -> Vec<Row> {
    let post = || Ask::call("now", json!({}));
    let own = |ask: Ask| session.own(ask);
    vec![
        // Media types.
        (post().with("content-type", "text/plain"), 415, -32600),
        (post().without("content-type"), 415, -32600),
        (
            post().with("content-type", "application/jsonp"),
            415,
            -32600,
        ),
        (
            post().with("content-type", "application/json-rpc"),
            415,
            -32600,
        ),
        (post().with("accept", "text/html"), 406, -32600),
        (post().with("accept", "application/json"), 406, -32600),
        (post().with("accept", "text/event-stream"), 406, -32600),
        (post().with("accept", ""), 406, -32600),
        // Methods and paths.
        (Ask::new("PUT", "/mcp"), 405, -32600),
        (Ask::new("PATCH", "/mcp"), 405, -32600),
        (Ask::new("OPTIONS", "/mcp"), 405, -32600),
        (Ask::new("TRACE", "/mcp"), 405, -32600),
        (Ask::new("POST", "/mcp/server-card"), 405, -32600),
        (Ask::new("GET", "/"), 404, -32600),
        (Ask::new("GET", "/mcp/../etc/passwd"), 404, -32600),
        (post().at("/mcpx"), 404, -32600),
        // Bodies.
        (post().body(""), 400, -32700),
        (post().body("{"), 400, -32700),
        (post().body("not json"), 400, -32700),
        (
            post().body(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\xfe\"}".to_vec()),
            400,
            -32700,
        ),
        (post().body("[".repeat(100_000)), 400, -32600),
        (post().body("{\"a\":".repeat(5_000)), 400, -32700),
        (post().body("{\"a\":".repeat(100_000)), 413, -32600),
        (post().body("\u{feff}{}"), 400, -32700),
        (post().body("{}{}"), 400, -32700),
        (post().body("17"), 400, -32600),
        (post().body("null"), 400, -32600),
        (post().body("[]"), 400, -32600),
        (post().body("{}"), 400, -32600),
        (
            post().body(r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#),
            400,
            -32600,
        ),
        (
            post().body(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#),
            400,
            -32600,
        ),
        (
            post().body(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
            400,
            -32600,
        ),
        (
            post().body(r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#),
            400,
            -32600,
        ),
        (
            post().body(r#"{"jsonrpc":"2.0","id":1,"method":7}"#),
            400,
            -32600,
        ),
        (
            post().body(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#),
            400,
            -32600,
        ),
        (
            post().body(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#),
            400,
            -32602,
        ),
        // Headers.
        (post().without("host"), 400, -32600),
        (post().also("host", "localhost"), 400, -32600),
        (post().also("content-type", "text/plain"), 400, -32600),
        (post().also("mcp-method", "tools/list"), 400, -32020),
        (post().with("host", "evil.example"), 403, -32600),
        (post().with("origin", "https://evil.example"), 403, -32600),
        (
            post()
                .also("origin", "http://localhost")
                .also("origin", "https://evil.example"),
            400,
            -32600,
        ),
        (
            post().with("mcp-protocol-version", "2025-06-18"),
            400,
            -32020,
        ),
        (post().without("mcp-method"), 400, -32020),
        (post().with("mcp-name", "=?base64?!?="), 400, -32020),
        // Sessions.
        (Ask::post(call(1, "now")), 400, -32600),
        (
            Ask::post(call(1, "now")).with("mcp-session-id", "unknown"),
            404,
            -32600,
        ),
        (
            Ask::post(call(1, "now")).with("mcp-session-id", "caf\u{e9}"),
            404,
            -32600,
        ),
        (
            Ask::post(call(1, "now")).with("mcp-session-id", ""),
            404,
            -32600,
        ),
        (Ask::get().with("mcp-session-id", "unknown"), 404, -32600),
        (Ask::get(), 400, -32600),
        (
            Ask::new("DELETE", "/mcp").with("mcp-session-id", "unknown"),
            404,
            -32600,
        ),
        (own(Ask::post("{")), 400, -32700),
        (
            own(Ask::post(json!([request(1, "ping", json!({}))]))),
            400,
            -32600,
        ),
        (
            own(Ask::post(call(1, "now"))).with("mcp-protocol-version", "1.0"),
            400,
            -32600,
        ),
        (
            own(Ask::post(call(1, "now"))).also("mcp-session-id", "other"),
            400,
            -32020,
        ),
        (
            own(Ask::get().with("last-event-id", "no-such-place")),
            400,
            -32600,
        ),
    ]
}

/// Sends calls until it is told to stop, and counts how many were served.
async fn healthy(site: &Site, is_over: &AtomicBool, served: &AtomicU32) {
    let mut raw = Raw::connect(site.address).await;
    while !is_over.load(Ordering::Relaxed) {
        let answer = raw.ask(Ask::call("now", json!({}))).await;
        assert_eq!(answer.status(), 200);
        served.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_wrong_request_has_its_answer() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let (is_over, served) = (AtomicBool::new(false), AtomicU32::new(0));
    let table = async {
        for (ask, status, code) in requests(&session) {
            let before = served.load(Ordering::Relaxed);
            let answer = site.ask(ask.clone()).await;
            let name = String::from_utf8_lossy(&ask.to_bytes())
                .chars()
                .take(300)
                .collect::<String>();
            assert_eq!(answer.status(), status, "{name}\n{}", answer.text());
            let message: Value = answer.json();
            assert_eq!(message["jsonrpc"], "2.0", "{name}");
            assert_eq!(message["error"]["code"], code, "{name}\n{message}");
            assert!(
                message["error"]["message"]
                    .as_str()
                    .is_some_and(|text| text.len() > 10)
            );
            if status == 405 {
                assert!(answer.head.get("allow").is_some(), "{name}");
            }
            // The valid client is still served.
            while served.load(Ordering::Relaxed) == before {
                tokio::task::yield_now().await;
            }
        }
        is_over.store(true, Ordering::Relaxed);
    };
    tokio::join!(table, healthy(&site, &is_over, &served));
    // After all that, the session has not changed.
    assert_eq!(session.post(call(1, "now")).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_not_http_are_refused_and_the_connection_closed() {
    let site = Site::start().await;
    let many = "x-many: 1\r\n".repeat(200);
    let large = format!("x-large: {}\r\n", "x".repeat(100_000));
    for (bytes, status) in [
        ("\0\u{1}\u{2}nonsense\r\n\r\n".to_owned(), 400),
        ("POST /mcp HTTP/9.9\r\nhost: localhost\r\n\r\n".to_owned(), 400),
        ("POST /mcp\r\n\r\n".to_owned(), 400),
        ("POST /mcp HTTP/1.1\r\nhost localhost\r\n\r\n".to_owned(), 400),
        (format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{many}\r\n"), 431),
        (format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{large}\r\n"), 431),
        ("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n".to_owned(), 400),
        (
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}"
                .to_owned(),
            400,
        ),
    ] {
        let mut raw = Raw::connect(site.address).await;
        raw.send(bytes.as_bytes()).await;
        let head = raw.head().await;
        assert_eq!(head.status, status, "{}", bytes.chars().take(100).collect::<String>());
        raw.closed().await;
        assert_eq!(site.ask(Ask::call("now", json!({}))).await.status(), 200);
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_not_handled() {
    let site = Site::start().await;
    let whole = Ask::call("wait", json!({})).to_bytes();
    for cut in [whole.len() - 1, whole.len() - 100] {
        let mut raw = Raw::connect(site.address).await;
        raw.send(&whole[..cut]).await;
        drop(raw);
    }
    assert_eq!(site.ask(Ask::call("now", json!({}))).await.status(), 200);
    assert_eq!(site.gate.count_arrived(), 0);
}
