//! What clients learn before they have a token.

use http::Method;
use serde_json::json;

use super::site::Site;

// rule: A3
// A3: servers MUST publish protected resource metadata with at least one authorization server, and
// tell clients its URL.
#[tokio::test]
async fn the_metadata_is_where_the_challenge_says_and_at_the_root() {
    let site = Site::with(|guard| {
        guard
            .scopes(["notes:read"])
            .scopes_supported(["notes:write"])
            .name("Notes")
            .documentation("https://notes.example/docs")
    })
    .await;
    let refused = site.post("whoami", &[]).await;
    assert_eq!(refused.status, 401);
    let url = site
        .resource
        .replace("/mcp", "/.well-known/oauth-protected-resource/mcp");
    // RFC 6750, 3.1: without a token the response has no error code.
    let expected = format!("Bearer scope=\"notes:read\", resource_metadata=\"{url}\"");
    assert_eq!(refused.challenge(), expected);
    for path in [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
    ] {
        let answer = site.get(path).await;
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(
            answer.json(),
            json!({
                "resource": site.resource,
                "authorization_servers": [site.issuer.url()],
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["notes:read", "notes:write"],
                "resource_name": "Notes",
                "resource_documentation": "https://notes.example/docs",
            })
        );
    }
    let elsewhere = site
        .get("/.well-known/oauth-protected-resource/other")
        .await;
    assert_eq!(elsewhere.status, 404);
    assert_eq!(site.asked("/jwks"), 0, "the issuer was not asked");
}

// rule: A2
// A2: 401 for every request without a token, in every revision and for every method.
#[tokio::test]
async fn nothing_is_served_without_a_token() {
    let site = Site::start().await;
    for (method, path, body) in [
        (
            Method::POST,
            "/mcp",
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
        ),
        (Method::POST, "/mcp", "["),
        (Method::GET, "/mcp", ""),
        (Method::DELETE, "/mcp", ""),
        (Method::GET, "/sse", ""),
        (Method::POST, "/messages?session=1", "{}"),
    ] {
        let accept = [
            ("accept", "text/event-stream"),
            ("content-type", "application/json"),
        ];
        let answer = site.send(method.clone(), path, &accept, body).await;
        answer.is_refused(401, "resource_metadata");
    }
    for path in ["/healthz", "/mcp/server-card"] {
        assert_eq!(site.get(path).await.status, 200, "{path}");
    }
}

// rule: A1
// A1: tokens are never in the query string. Malformed requests get 400.
#[tokio::test]
async fn a_token_in_the_wrong_place_is_refused() {
    let site = Site::start().await;
    let token = site.token().mint();
    let headers = [("content-type", "application/json")];
    let path = format!("/mcp?access_token={token}");
    let answer = site.send(Method::POST, &path, &headers, "{}").await;
    answer.is_refused(400, "invalid_request");
    assert!(!answer.challenge().contains(&token), "it is not repeated");
    let malformed = site
        .post("whoami", &[("authorization", "Bearer a b")])
        .await;
    malformed.is_refused(400, "invalid_request");
    let basic = site
        .post("whoami", &[("authorization", "Basic YTpi")])
        .await;
    basic.is_refused(401, "resource_metadata");
    assert!(!basic.challenge().contains("error="));
}
