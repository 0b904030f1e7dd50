//! Sessions belong to the caller that opened them, and do not authorize by themselves.

use http::Method;
use serde_json::{Value, json};

use super::site::{Answer, Site};

async fn send(site: &Site, session: Option<&str>, token: Option<&str>, body: &Value) -> Answer {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let mut headers = vec![
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
    headers.extend(session.map(|session| ("mcp-session-id", session)));
    site.send(Method::POST, "/mcp", &headers, body.to_string())
        .await
}

fn call(tool: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": tool, "arguments": {} },
    })
}

// security: sessions MUST NOT be authentication; every request MUST be verified.
#[tokio::test]
async fn a_session_id_without_its_owners_token_is_nothing() {
    let site = Site::start().await;
    let ann = site.token().mint();
    let open = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        },
    });
    let opened = send(&site, None, Some(&ann), &open).await;
    assert_eq!(opened.status, 200);
    let session = opened.header("mcp-session-id").to_owned();
    let own = Some(session.as_str());
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(send(&site, own, Some(&ann), &ready).await.status, 202);
    let served = send(&site, own, Some(&ann), &call("whoami")).await;
    assert_eq!(served.caller()["identity"]["subject"], "ann");

    send(&site, own, None, &call("whoami"))
        .await
        .is_refused(401, "resource_metadata");
    let expired = site.token().expired().mint();
    send(&site, own, Some(&expired), &call("whoami"))
        .await
        .is_refused(401, "expired");
    let eve = site.issuer.token("eve").audience(&site.resource).mint();
    assert_eq!(
        send(&site, own, Some(&eve), &call("whoami")).await.status,
        404
    );

    // The session continues with another token of the same user, and with that token's scopes.
    send(&site, own, Some(&ann), &call("write"))
        .await
        .is_refused(403, "notes:write");
    let more = site
        .token()
        .client("another")
        .scopes(["notes:write"])
        .mint();
    let served = send(&site, own, Some(&more), &call("write")).await;
    assert_eq!(served.caller()["scopes"], json!(["notes:write"]));
}
