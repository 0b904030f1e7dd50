//! The HTTP parts of a request in handlers; token checks and functions as guards; the path of a
//! mounted service.

use axum::{Router, extract::Request, middleware, response::Response};
use http::{StatusCode, request::Parts};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    Bearer, Caller, CorsRules, Headers, HttpExtension, HttpRefusal, HttpSettings, LiveServer,
    PeerAddress, Server, Tool,
};
use turnbuckle_transport::http::{Listener, Settings, serve};

use super::{
    ask::{Ask, call},
    raw::{Answer, Raw},
};
use crate::wire::Wire;

/// A service that runs until the sender is dropped.
struct Served {
    address: std::net::SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Served {
    async fn new(router: Router) -> Self {
        let listener = Listener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_address().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(serve(listener, router, Settings::default(), async {
            let _ = stopped.await;
        }));
        Self {
            address,
            _stop: stop,
        }
    }

    async fn ask(&self, ask: Ask) -> Answer {
        Raw::connect(self.address).await.ask(ask).await
    }
}

fn text(answer: &Answer) -> Value {
    answer.json()["result"]["content"][0]["text"].clone()
}

#[derive(Clone)]
struct Tenant(&'static str);

async fn tag(mut request: Request, next: middleware::Next) -> Response {
    request.extensions_mut().insert(Tenant("acme"));
    next.run(request).await
}

fn seeing() -> LiveServer {
    async fn language(Headers(headers): Headers) -> String {
        let language = headers.get("accept-language");
        let language = language.and_then(|value| value.to_str().ok());
        language.unwrap_or("none").to_owned()
    }
    async fn tenant(HttpExtension(tenant): HttpExtension<Tenant>) -> String {
        tenant.0.to_owned()
    }
    async fn address(PeerAddress(address): PeerAddress) -> String {
        address.ip().to_string()
    }
    async fn maybe(headers: Option<Headers>) -> String {
        headers.is_some().to_string()
    }
    Server::new("s", "1")
        .tool(Tool::new("language", language))
        .tool(Tool::new("tenant", tenant))
        .tool(Tool::new("address", address))
        .tool(Tool::new("maybe", maybe))
        .build()
        .expect("a server")
}

#[tokio::test]
async fn handlers_see_what_came_with_the_request_in_both_eras() {
    let router = Router::new()
        .fallback_service(seeing().http())
        .layer(middleware::from_fn(tag));
    let served = Served::new(router).await;
    let opened = served.ask(Ask::initialize(Revision::V2025_11_25)).await;
    let id = opened
        .head
        .get("mcp-session-id")
        .expect("a session")
        .to_owned();
    for (tool, expected) in [
        ("language", "de"),
        ("tenant", "acme"),
        ("address", "127.0.0.1"),
        ("maybe", "true"),
    ] {
        let modern = Ask::call(tool, json!({})).with("accept-language", "de");
        assert_eq!(text(&served.ask(modern).await), expected);
        let legacy = Ask::post(call(1, tool))
            .with("mcp-session-id", &id)
            .with("mcp-protocol-version", "2025-11-25")
            .with("accept-language", "de");
        assert_eq!(text(&served.ask(legacy).await), expected);
    }
    // Each request has its own headers.
    let other = Ask::call("language", json!({})).with("accept-language", "fr");
    assert_eq!(text(&served.ask(other).await), "fr");
}

/// Each server has only one handler, which takes an `Option`: no other handler requires that
/// requests are kept.
#[tokio::test]
async fn handlers_that_can_do_without_see_what_came_with_the_request() {
    async fn headers(headers: Option<Headers>) -> bool {
        headers.is_some_and(|Headers(headers)| headers.contains_key("accept-language"))
    }
    async fn tenant(tenant: Option<HttpExtension<Tenant>>) -> bool {
        tenant.is_some_and(|HttpExtension(tenant)| tenant.0 == "acme")
    }
    async fn address(address: Option<PeerAddress>) -> bool {
        address.is_some()
    }
    let tools = [
        Tool::new("seen", headers),
        Tool::new("seen", tenant),
        Tool::new("seen", address),
    ];
    for tool in tools {
        let live = Server::new("s", "1").tool(tool).build().expect("a server");
        let router = Router::new()
            .fallback_service(live.http())
            .layer(middleware::from_fn(tag));
        let served = Served::new(router).await;
        let call = Ask::call("seen", json!({})).with("accept-language", "de");
        assert_eq!(text(&served.ask(call).await), "true");
    }
}

#[tokio::test]
async fn a_layer_that_put_nothing_in_is_a_fault_and_other_transports_are_refused() {
    let live = seeing();
    let served = Served::new(Router::new().fallback_service(live.http())).await;
    let answer = served.ask(Ask::call("tenant", json!({}))).await;
    assert_eq!(answer.json()["error"]["code"], -32603);
    let mut wire = Wire::open(&live);
    let error = wire
        .error("tools/call", json!({ "name": "language", "arguments": {} }))
        .await;
    assert!(error["message"].as_str().expect("text").contains("HTTP"));
    let result = wire
        .result("tools/call", json!({ "name": "maybe", "arguments": {} }))
        .await;
    assert_eq!(result["content"][0]["text"], "false");
}

async fn who(caller: Caller) -> String {
    caller.id().unwrap_or("local").to_owned()
}

#[tokio::test]
async fn a_bearer_check_is_one_function_from_token_to_caller() {
    let live = Server::new("s", "1")
        .tool(Tool::new("who", who))
        .build()
        .expect("a server");
    let guard = Bearer::new(async |token: String| match token.as_str() {
        "let-me-in" => Ok(Some(Caller::new("ada"))),
        "too-many" => Err(HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, "slow down")),
        _ => Ok(None),
    });
    let served = Served::new(Router::new().fallback_service(live.http().protect(guard))).await;
    let with = |value: &str| Ask::call("who", json!({})).with("authorization", value);
    assert_eq!(text(&served.ask(with("Bearer let-me-in")).await), "ada");
    assert_eq!(text(&served.ask(with("bearer  let-me-in")).await), "ada");
    for (value, status, challenge) in [
        ("Bearer wrong", 401, Some(r#"Bearer error="invalid_token""#)),
        ("Basic let-me-in", 401, Some("Bearer")),
        ("Bearer", 401, Some("Bearer")),
        ("Bearer too-many", 429, None),
    ] {
        let answer = served.ask(with(value)).await;
        assert_eq!(answer.status(), status, "{value}");
        assert_eq!(answer.head.get("www-authenticate"), challenge, "{value}");
    }
    assert_eq!(served.ask(Ask::call("who", json!({}))).await.status(), 401);
}

#[tokio::test]
async fn an_async_function_is_a_guard() {
    async fn known(request: Parts) -> Result<Caller, HttpRefusal> {
        let user = request.headers.get("x-user");
        match user.and_then(|user| user.to_str().ok()) {
            Some(user) => Ok(Caller::new(user)),
            None => Err(HttpRefusal::new(StatusCode::FORBIDDEN, "say who you are")),
        }
    }
    let live = Server::new("s", "1")
        .tool(Tool::new("who", who))
        .build()
        .expect("a server");
    let served = Served::new(Router::new().fallback_service(live.http().protect(known))).await;
    let ada = Ask::call("who", json!({})).with("x-user", "ada");
    assert_eq!(text(&served.ask(ada).await), "ada");
    assert_eq!(served.ask(Ask::call("who", json!({}))).await.status(), 403);
}

#[tokio::test]
async fn a_mounted_service_knows_where_it_is_and_has_nothing_below() {
    let live = Server::new("s", "1")
        .tool(Tool::new("who", who))
        .build()
        .expect("a server");
    let nested = Router::new().nest_service("/api/mcp", live.http().mounted_at("/api/mcp/"));
    let routed = live.http().mounted_at("https://example.com/api/mcp");
    let routed = Router::new()
        .route_service("/api/mcp", routed.clone())
        .route_service("/api/mcp/{*below}", routed);
    for (router, url) in [
        (nested, None),
        (routed, Some("https://example.com/api/mcp")),
    ] {
        let served = Served::new(router).await;
        let answer = served.ask(Ask::call("who", json!({})).at("/api/mcp")).await;
        assert_eq!(text(&answer), "local");
        let card = served.ask(Ask::new("GET", "/api/mcp/server-card")).await;
        let card: Value = serde_json::from_str(&card.text()).expect("JSON");
        let said = card["remotes"][0]["url"].to_string();
        match url {
            Some(url) => assert_eq!(said, format!("\"{url}\"")),
            None => assert!(
                said.starts_with("\"http://") && said.ends_with("/api/mcp\""),
                "{said}"
            ),
        }
        for below in ["/api/mcp/x", "/api/mcp/mcp"] {
            let answer = served.ask(Ask::call("who", json!({})).at(below)).await;
            assert_eq!(answer.status(), 404, "{below}");
        }
    }
}

#[tokio::test]
async fn browsers_are_told_the_rules_of_the_author() {
    let live = Server::new("s", "1").build().expect("a server");
    let rules = CorsRules::new()
        .allow_credentials()
        .allow_method(&http::Method::PUT)
        .allow_header(http::HeaderName::from_static("x-tenant"))
        .expose_header(http::HeaderName::from_static("x-request-id"))
        .max_age(std::time::Duration::from_mins(1));
    let named = HttpSettings::default()
        .allow_origin("https://app.example.com")
        .cors_with(rules.clone());
    let any = HttpSettings::default().allow_any_origin().cors_with(rules);
    let preflight = || {
        Ask::new("OPTIONS", "/mcp")
            .with("origin", "https://app.example.com")
            .with("access-control-request-method", "POST")
            .with("access-control-request-headers", "mcp-param-region, x-evil")
    };
    let served = Served::new(Router::new().fallback_service(live.http_with(named))).await;
    let answer = served.ask(preflight()).await;
    let told = |name: &str| answer.head.get(name).unwrap_or_default().to_owned();
    assert_eq!(told("access-control-allow-credentials"), "true");
    assert_eq!(
        told("access-control-allow-origin"),
        "https://app.example.com"
    );
    assert!(told("access-control-allow-methods").ends_with(", PUT"));
    let headers = told("access-control-allow-headers");
    assert!(headers.contains("x-tenant") && headers.contains("mcp-param-region"));
    assert!(headers.contains("mcp-session-id") && !headers.contains("x-evil"));
    assert_eq!(told("access-control-max-age"), "60");
    let exposed = told("access-control-expose-headers");
    assert!(exposed.contains("mcp-session-id") && exposed.contains("x-request-id"));
    // If any page may call, no page may act with the user's credentials.
    let served = Served::new(Router::new().fallback_service(live.http_with(any))).await;
    let answer = served.ask(preflight()).await;
    assert_eq!(answer.head.get("access-control-allow-credentials"), None);
}
