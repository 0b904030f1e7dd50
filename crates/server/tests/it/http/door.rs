//! Which requests are accepted, and what pages of other origins may do.

use serde_json::{Value, json};
use turnbuckle_protocol::Revision;
use turnbuckle_server::HttpSettings;

use super::{ask::Ask, raw::Answer, site::Site};

// rule: H1, N3
// streamable-http: an invalid Origin MUST be a 403.
#[tokio::test]
async fn strangers_are_turned_away_with_the_setting_that_would_let_them_in() {
    let site = Site::start().await;
    let call = || Ask::call("now", json!({}));
    for (ask, setting) in [
        (call().with("host", "evil.example"), "allow_host"),
        (call().with("host", "127.0.0.1.evil.example"), "allow_host"),
        (
            call().with("origin", "https://evil.example"),
            "allow_origin",
        ),
        (call().with("origin", "null"), "allow_origin"),
        (
            Ask::get().with("origin", "http://localhost.evil.example"),
            "allow_origin",
        ),
        (
            Ask::initialize(Revision::V2025_06_18).with("origin", "https://evil.example"),
            "allow_origin",
        ),
        (
            Ask::new("GET", "/sse").with("origin", "https://evil.example"),
            "allow_origin",
        ),
        (
            Ask::new("POST", "/messages?session=1").with("origin", "https://evil.example"),
            "allow_origin",
        ),
        (
            Ask::new("DELETE", "/mcp").with("host", "evil.example:7250"),
            "allow_host",
        ),
        (
            Ask::new("OPTIONS", "/mcp").with("origin", "https://evil.example"),
            "allow_origin",
        ),
        (
            Ask::new("GET", "/mcp/server-card").with("host", "evil.example"),
            "allow_host",
        ),
    ] {
        let answer = site.ask(ask.clone()).await;
        assert_eq!(answer.status(), 403, "{ask:?}");
        assert!(answer.text().contains(setting), "{}", answer.text());
        assert_eq!(answer.json().get("id"), None);
    }
    let port = site.address.port();
    for ask in [
        call().with("host", &format!("127.0.0.1:{port}")),
        call().with("host", &format!("localhost:{port}")),
        call().with("origin", &format!("http://localhost:{port}")),
        call().with("origin", &format!("http://127.0.0.1:{port}")),
        call().with("host", "[::1]:80"),
    ] {
        assert_eq!(site.ask(ask.clone()).await.status(), 200, "{ask:?}");
    }
}

#[tokio::test]
async fn an_absolute_target_counts_more_than_the_header() {
    let site = Site::start().await;
    let ask = Ask::call("now", json!({})).at("http://evil.example/mcp");
    assert_eq!(site.ask(ask).await.status(), 403);
    let ask = Ask::call("now", json!({}))
        .at("http://localhost/mcp")
        .with("host", "evil.example");
    assert_eq!(site.ask(ask).await.status(), 200);
}

#[tokio::test]
async fn names_that_are_allowed_are_let_in() {
    let site = Site::with(|http| {
        http.allow_host("mcp.example.com")
            .allow_origin("https://app.example.com")
    })
    .await;
    let ask = Ask::call("now", json!({}))
        .with("host", "mcp.example.com")
        .with("origin", "https://app.example.com");
    let answer = site.ask(ask).await;
    assert_eq!(answer.status(), 200);
    // CORS is disabled, so browsers do not let pages read this.
    assert_eq!(answer.head.get("access-control-allow-origin"), None);
    let preflight = Ask::new("OPTIONS", "/mcp").with("origin", "https://app.example.com");
    assert_eq!(site.ask(preflight).await.status(), 405);
}

// Pages may send headers for arguments of tools, whatever their names are.
// rule: X6
#[tokio::test]
async fn pages_of_allowed_origins_may_read_where_cors_is_on() {
    let origin = "https://app.example.com";
    let settings = HttpSettings::default().allow_origin(origin).cors();
    let site = Site::with(|http| http.settings(settings)).await;
    let preflight = Ask::new("OPTIONS", "/mcp")
        .with("origin", origin)
        .with("access-control-request-method", "POST")
        .with(
            "access-control-request-headers",
            "content-type,mcp-method,Mcp-Param-Region,x-other",
        );
    let answer = site.ask(preflight).await;
    assert_eq!(answer.status(), 204);
    let head = &answer.head;
    assert_eq!(head.get("access-control-allow-origin"), Some(origin));
    let methods = head.get("access-control-allow-methods").expect("methods");
    assert!(
        ["POST", "GET", "DELETE"]
            .iter()
            .all(|method| methods.contains(method))
    );
    let headers = head.get("access-control-allow-headers").expect("headers");
    for name in [
        "content-type",
        "mcp-session-id",
        "mcp-name",
        "last-event-id",
        "Mcp-Param-Region",
    ] {
        assert!(headers.contains(name), "{headers}");
    }
    assert!(!headers.contains("x-other"));

    let called = site
        .ask(Ask::call("now", json!({})).with("origin", origin))
        .await;
    assert_eq!(called.head.get("access-control-allow-origin"), Some(origin));
    assert!(
        called
            .head
            .get("access-control-expose-headers")
            .is_some_and(|names| names.contains("mcp-session-id"))
    );
    assert_eq!(called.head.get("vary"), Some("origin"));
    let evil = site
        .ask(Ask::call("now", json!({})).with("origin", "https://evil.example"))
        .await;
    assert_eq!(evil.status(), 403);
    assert_eq!(evil.head.get("access-control-allow-origin"), None);
    let plain = site.ask(Ask::call("now", json!({}))).await;
    assert_eq!(plain.head.get("access-control-allow-origin"), None);
}

#[tokio::test]
async fn health_needs_no_credentials() {
    let site = Site::start().await;
    let ask = Ask::new("GET", "/healthz").with("host", "10.0.0.7");
    let answer = site.ask(ask).await;
    assert_eq!(
        (answer.status(), answer.text()),
        (200, r#"{"status":"ok"}"#.into())
    );
}

/// Reads a document, which must have a media type of its own.
fn read(answer: &Answer) -> Value {
    serde_json::from_str(&answer.text()).expect("JSON")
}

/// Asserts that a card has the members that its schema requires, in the required form.
fn assert_card(card: &Value) {
    let schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
    assert_eq!(card["$schema"], schema);
    let (space, name) = card["name"]
        .as_str()
        .and_then(|name| name.split_once('/'))
        .expect("a namespace and a name");
    assert!(
        !space.is_empty() && !name.is_empty() && !name.contains('/'),
        "{card}"
    );
    let description = card["description"].as_str().expect("a description");
    assert!(
        (1..=100).contains(&description.chars().count()),
        "{description}"
    );
    assert!(card["version"].is_string());
    let url = card["remotes"][0]["url"].as_str().expect("a URL");
    assert!(
        url.starts_with("http://") || url.starts_with("https://"),
        "{url}"
    );
}

#[tokio::test]
async fn the_card_says_who_we_are() {
    let site = Site::with(|http| http.allow_host("mcp.example.com")).await;
    let answer = site.ask(Ask::new("GET", "/mcp/server-card")).await;
    let kind = "application/mcp-server-card+json";
    assert_eq!(answer.head.get("content-type"), Some(kind));
    let card = read(&answer);
    assert_card(&card);
    assert_eq!(card["name"], "localhost/gate");
    assert_eq!(
        card["remotes"][0]["supportedProtocolVersions"][0],
        Revision::LATEST.as_str()
    );

    let public = |path| Ask::new("GET", path).with("host", "mcp.example.com");
    let card = read(&site.ask(public("/mcp/server-card")).await);
    assert_card(&card);
    assert_eq!(card["name"], "com.example.mcp/gate");
    assert_eq!(card["remotes"][0]["url"], "https://mcp.example.com/mcp");

    let answer = site.ask(public("/.well-known/ai-catalog.json")).await;
    let kind = "application/ai-catalog+json";
    assert_eq!(answer.head.get("content-type"), Some(kind));
    let catalog = read(&answer);
    assert_eq!(catalog["specVersion"], "1.0");
    let entry = &catalog["entries"][0];
    assert_eq!(entry["identifier"], "urn:air:mcp.example.com:mcp:gate");
    assert_eq!(entry["url"], "https://mcp.example.com/mcp/server-card");
}

#[tokio::test]
async fn a_card_that_is_known_is_not_sent_again() {
    let site = Site::start().await;
    let ask = || Ask::new("GET", "/mcp/server-card");
    let answer = site.ask(ask()).await;
    let tag = answer.head.get("etag").expect("a tag").to_owned();
    let again = site.ask(ask().with("if-none-match", &tag)).await;
    assert_eq!((again.status(), again.text()), (304, String::new()));
    let other = site.ask(ask().with("if-none-match", "\"other\"")).await;
    assert_eq!(other.status(), 200);
}

// Pages of all origins may read the card of a public server, but not that of a server on loopback.
#[tokio::test]
async fn pages_read_the_card_of_a_public_server() {
    let site = Site::with(|http| http.allow_host("mcp.example.com")).await;
    let page = |method| {
        let ask = Ask::new(method, "/mcp/server-card");
        ask.with("origin", "https://elsewhere.example")
    };
    for method in ["GET", "OPTIONS"] {
        let public = site.ask(page(method).with("host", "mcp.example.com")).await;
        assert!((200..300).contains(&public.status()), "{method}");
        assert_eq!(public.head.get("access-control-allow-origin"), Some("*"));
        let own = site.ask(page(method)).await;
        assert_eq!(own.status(), 403, "{method}");
        assert_eq!(own.head.get("access-control-allow-origin"), None);
    }
    // The endpoint itself does not accept them.
    let call = Ask::call("now", json!({})).with("host", "mcp.example.com");
    let call = call.with("origin", "https://elsewhere.example");
    assert_eq!(site.ask(call).await.status(), 403);
}
