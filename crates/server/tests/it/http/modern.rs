//! 2026-07-28: each request is complete in itself, at the same endpoint as the other revisions.

use serde_json::json;
use turnbuckle_protocol::Revision;

use super::{
    ask::{Ask, modern_message, request},
    raw::Raw,
    site::{SESSIONS, Session, Site},
};

// rule: N2
#[tokio::test]
async fn a_call_is_answered_with_json() {
    let site = Site::start().await;
    let answer = site.ask(Ask::call("now", json!({}))).await;
    assert_eq!(answer.status(), 200);
    let message = answer.json();
    assert_eq!(message["result"]["resultType"], "complete");
    assert_eq!(message["result"]["content"][0]["text"], "now");
    // streamable-http: no session is made for a modern request.
    assert_eq!(answer.head.get("mcp-session-id"), None);
}

#[tokio::test]
async fn one_endpoint_serves_both_eras_in_turn() {
    let site = Site::start().await;
    for revision in SESSIONS {
        let session = Session::open(&site, revision).await;
        let modern = site.ask(Ask::modern("tools/list", json!({}))).await;
        assert_eq!(modern.json()["result"]["resultType"], "complete");
        let legacy = session.post(request(5, "tools/list", json!({}))).await;
        assert_eq!(legacy.status(), 200);
        assert_eq!(legacy.json()["result"].get("resultType"), None);
        let discovered = site.ask(Ask::modern("server/discover", json!({}))).await;
        let versions = &discovered.json()["result"]["supportedVersions"];
        assert!(
            versions
                .as_array()
                .is_some_and(|all| all.contains(&json!(revision.as_str())))
        );
    }
}

// rule: M2
// basic: a missing field of `_meta` MUST be a 400 with -32602.
#[tokio::test]
async fn a_request_without_its_meta_is_refused_with_the_field() {
    let site = Site::start().await;
    let whole = modern_message(1, "tools/list", json!({}));
    for (field, named) in [
        ("io.modelcontextprotocol/protocolVersion", "protocolVersion"),
        (
            "io.modelcontextprotocol/clientCapabilities",
            "clientCapabilities",
        ),
    ] {
        let mut message = whole.clone();
        message["params"]["_meta"]
            .as_object_mut()
            .unwrap()
            .remove(field);
        let ask = Ask::modern("tools/list", json!({})).body(message.to_string());
        let answer = site.ask(ask).await;
        assert_eq!((answer.status(), answer.code()), (400, -32602), "{field}");
        assert_eq!(answer.json()["id"], 1);
        assert!(answer.text().contains(named), "{}", answer.text());
    }
    let bare = request(1, "tools/list", json!({})).to_string();
    let answer = site
        .ask(Ask::modern("tools/list", json!({})).body(bare))
        .await;
    assert_eq!((answer.status(), answer.code()), (400, -32602));
}

// rule: M3
// versioning: an unknown version MUST be a 400 with -32022 that lists the supported versions.
#[tokio::test]
async fn an_unknown_version_is_refused_with_the_supported_ones() {
    let site = Site::start().await;
    for version in ["v999.0.0", "2027-01-01", "2025-11-25"] {
        let mut message = modern_message(7, "tools/list", json!({}));
        message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
        let ask = Ask::modern("tools/list", json!({}))
            .with("mcp-protocol-version", version)
            .body(message.to_string());
        let answer = site.ask(ask).await;
        assert_eq!((answer.status(), answer.code()), (400, -32022), "{version}");
        let error = &answer.json()["error"];
        assert_eq!(error["data"]["requested"], version);
        assert_eq!(error["data"]["supported"][0], Revision::LATEST.as_str());
        assert_eq!(answer.json()["id"], 7);
    }
}

// rule: N7
// streamable-http: the body of an error contains the id of its request, whatever its status.
#[tokio::test]
async fn an_error_has_the_id_of_its_request() {
    let site = Site::start().await;
    for id in [json!(7), json!("seven"), json!(0)] {
        let missing = Ask::modern_as(id.clone(), "nothing/of/the/kind", json!({}));
        let mismatch = Ask::modern_as(id.clone(), "tools/call", json!({ "name": "now" }))
            .without("mcp-name")
            .with("mcp-name", "another");
        let unknown = Ask::modern_as(id.clone(), "tools/call", json!({ "name": "nobody" }));
        for (ask, status) in [(missing, 404), (mismatch, 400), (unknown, 200)] {
            let answer = site.ask(ask).await;
            assert_eq!(answer.status(), status, "{}", answer.text());
            assert_eq!(answer.json()["id"], id, "{}", answer.text());
            assert!(answer.json()["error"]["code"].is_i64());
        }
    }
}

// rule: N2
// streamable-http: an unknown method MUST be a 404 with -32601.
#[tokio::test]
async fn methods_that_are_not_there_are_404() {
    let site = Site::start().await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "nothing/of/the/kind",
        "prompts/list",
    ] {
        let answer = site.ask(Ask::modern(method, json!({}))).await;
        assert_eq!((answer.status(), answer.code()), (404, -32601), "{method}");
    }
}

#[tokio::test]
async fn a_handshake_with_decorations_is_a_handshake() {
    let site = Site::start().await;
    // A client that sends the header or the members of `_meta`, but still wants a session.
    let header = Ask::initialize(Revision::V2025_11_25).with("mcp-protocol-version", "2026-07-28");
    let answer = site.ask(header).await;
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "raw", "version": "1" },
    });
    let answer = site
        .ask(Ask::post(modern_message(0, "initialize", params)))
        .await;
    assert_eq!(answer.json()["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn an_error_of_the_callee_is_a_payload() {
    let site = Site::start().await;
    for tool in ["no-such-tool", "letters"] {
        let answer = site.ask(Ask::call(tool, json!({ "count": "many" }))).await;
        assert_eq!(answer.status(), 200, "{tool}: {}", answer.text());
    }
    let unknown = site.ask(Ask::call("no-such-tool", json!({}))).await;
    assert_eq!(unknown.code(), -32602);
    let cursor = site
        .ask(Ask::modern("tools/list", json!({ "cursor": "?" })))
        .await;
    assert_eq!((cursor.status(), cursor.code()), (200, -32602));
}

// rule: M10, N2
// streamable-http: GET and DELETE get 405; session ids and event ids are ignored.
#[tokio::test]
async fn sessions_do_not_exist() {
    let site = Site::start().await;
    for (method, revision) in ["GET", "DELETE"].into_iter().flat_map(|method| {
        Revision::MODERN
            .iter()
            .map(move |revision| (method, revision))
    }) {
        let ask = Ask::new(method, "/mcp")
            .with("accept", "text/event-stream")
            .with("mcp-protocol-version", revision.as_str());
        let answer = site.ask(ask).await;
        assert_eq!(answer.status(), 405, "{method} {revision}");
        assert_eq!(answer.head.get("allow"), Some("POST"));
    }
    let call = Ask::call("now", json!({}))
        .with("mcp-session-id", "of-an-old-life")
        .with("last-event-id", "1-1");
    assert_eq!(site.ask(call).await.status(), 200);
    let note = Ask::post(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }))
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-session-id", "of-an-old-life");
    let answer = site.ask(note).await;
    assert_eq!((answer.status(), answer.body.len()), (202, 0));
}

#[tokio::test]
async fn a_modern_request_is_modern_inside_a_session_too() {
    let site = Site::start().await;
    let session = Session::open(&site, Revision::V2025_11_25).await;
    let call = Ask::call("now", json!({})).with("mcp-session-id", &session.id);
    assert_eq!(
        site.ask(call).await.json()["result"]["resultType"],
        "complete"
    );
}

#[tokio::test]
async fn a_connection_carries_one_request_after_another() {
    let site = Site::start().await;
    let mut raw = Raw::connect(site.address).await;
    for id in 1..=50 {
        let params = json!({ "name": "now", "arguments": {} });
        let answer = raw.ask(Ask::modern_as(id, "tools/call", params)).await;
        assert_eq!(answer.json()["id"], id);
    }
}

#[tokio::test]
async fn requests_without_an_accept_header_are_served() {
    let site = Site::start().await;
    for ask in [
        Ask::call("now", json!({})).without("accept"),
        Ask::call("now", json!({})).with("accept", "*/*"),
        Ask::call("now", json!({})).with("content-type", "Application/JSON; charset=utf-8"),
    ] {
        assert_eq!(site.ask(ask).await.status(), 200);
    }
}
