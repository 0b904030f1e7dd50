//! A guard checks every request, including requests of a session.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, request::Parts};
use serde_json::json;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{AuthDecision, Authorized, Caller, HttpRefusal, Protect, Server, Tool};

use super::{
    ask::{Ask, call, notice, request},
    raw::Answer,
    site::Site,
};
use crate::gate::Gate;

const DOCUMENT: &str = "/.well-known/oauth-protected-resource/mcp";

/// Trusts `X-User: name scope scope`; a real guard would verify a token.
#[derive(Default)]
struct Believing {
    asked: AtomicUsize,
}

impl Protect for Believing {
    fn admit(&self, request: &Parts) -> AuthDecision {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        let said = request.headers.get("x-user");
        let said = said.and_then(|said| said.to_str().ok());
        let mut words = said.unwrap_or_default().split(' ').map(str::to_owned);
        let verdict =
            match words.next().filter(|name| !name.is_empty()) {
                Some(name) => Ok(Authorized::new(Caller::new(name).with_scopes(words))
                    .with_header(
                        HeaderName::from_static("dpop-nonce"),
                        HeaderValue::from_static("fresh"),
                    )),
                None => Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, "who are you?")
                    .with_header(
                        http::header::WWW_AUTHENTICATE,
                        HeaderValue::from_static("Bearer resource_metadata=\"there\""),
                    )),
            };
        // Some guards decide at once, others have to ask a service.
        if asked.is_multiple_of(2) {
            AuthDecision::Now(verdict)
        } else {
            AuthDecision::Later(Box::pin(async {
                tokio::task::yield_now().await;
                verdict
            }))
        }
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        (path == DOCUMENT).then(|| Bytes::from_static(b"{\"resource\":\"r\"}"))
    }

    fn hosts(&self) -> Vec<String> {
        vec!["mcp.example.com".into()]
    }
}

async fn who(caller: Caller) -> String {
    let scopes = caller.scopes().join(",");
    format!("{}: {scopes}", caller.id().unwrap_or("local"))
}

async fn site() -> (Site, Arc<Believing>) {
    let server = Server::new("s", "1")
        .tool(Tool::new("who", who))
        .tool(Tool::new("write", who).scopes(["write", "read"]));
    let guard = Arc::new(Believing::default());
    let listening = Arc::clone(&guard);
    let site = Site::serving(server, Gate::new(), |http| http.protect(listening)).await;
    (site, guard)
}

fn text(answer: &Answer) -> String {
    let json = answer.json();
    let text = json["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{json}")).to_owned()
}

#[tokio::test]
async fn requests_without_a_visit_are_refused() {
    let (site, guard) = site().await;
    let opened = site
        .ask(Ask::initialize(Revision::V2025_11_25).with("x-user", "ada"))
        .await;
    let id = opened.head.get("mcp-session-id").expect("a session");
    let tries = [
        Ask::call("who", json!({})),
        Ask::initialize(Revision::V2025_06_18),
        // A session id does not authenticate.
        Ask::post(call(1, "who")).with("mcp-session-id", id),
        Ask::post(notice("notifications/initialized", json!({}))).with("mcp-session-id", id),
        Ask::get().with("mcp-session-id", id),
        Ask::new("DELETE", "/mcp").with("mcp-session-id", id),
        Ask::get().at("/sse"),
        Ask::post(request(1, "ping", json!({}))).at("/messages?session=1"),
        Ask::new("PUT", "/mcp"),
        // A body that is not a message is not even parsed.
        Ask::post("garbage"),
    ];
    for attempt in tries {
        let before = guard.asked.load(Ordering::Relaxed);
        let answer = site.ask(attempt.clone()).await;
        assert_eq!(answer.status(), 401, "{attempt:?}");
        let challenge = answer.head.get("www-authenticate");
        assert_eq!(challenge, Some("Bearer resource_metadata=\"there\""));
        assert_eq!(answer.json()["error"]["message"], "who are you?");
        assert_eq!(guard.asked.load(Ordering::Relaxed), before + 1);
    }
}

#[tokio::test]
async fn documents_health_and_card_are_public() {
    let (site, guard) = site().await;
    let document = site.ask(Ask::new("GET", DOCUMENT)).await;
    assert_eq!(document.status(), 200);
    assert_eq!(document.json()["resource"], "r");
    assert_eq!(site.ask(Ask::post("x").at(DOCUMENT)).await.status(), 405);
    for path in ["/healthz", "/mcp/server-card"] {
        assert_eq!(
            site.ask(Ask::new("GET", path)).await.status(),
            200,
            "{path}"
        );
    }
    assert_eq!(site.ask(Ask::new("GET", "/nowhere")).await.status(), 404);
    assert_eq!(guard.asked.load(Ordering::Relaxed), 0);
    // The guard tells the public names of the server.
    let named = Ask::call("who", json!({})).with("host", "mcp.example.com");
    assert_eq!(site.ask(named.with("x-user", "ada")).await.status(), 200);
}

#[tokio::test]
async fn a_tool_that_needs_more_is_refused_before_it_runs() {
    let (site, _) = site().await;
    let write = |user| Ask::call("write", json!({})).with("x-user", user);
    for user in ["ada", "ada read", "ada write"] {
        let refused = site.ask(write(user)).await;
        assert_eq!(refused.status(), 403, "{user}");
        let message = &refused.json()["error"]["message"];
        assert_eq!(message, "this call needs the scopes `write read`");
        assert_eq!(refused.json()["id"], 1);
    }
    let served = site.ask(write("ada write read")).await;
    assert_eq!(text(&served), "ada: write,read");
    assert_eq!(served.head.get("dpop-nonce"), Some("fresh"));
    // The tool is listed, so that a client can ask for the missing scope.
    let list = Ask::modern("tools/list", json!({})).with("x-user", "ada");
    let list = site.ask(list).await;
    assert_eq!(list.json()["result"]["tools"][1]["name"], "write");
}

#[tokio::test]
async fn a_session_goes_on_with_a_better_token() {
    let (site, _) = site().await;
    let opened = site
        .ask(Ask::initialize(Revision::V2025_11_25).with("x-user", "ada"))
        .await;
    let id = opened.head.get("mcp-session-id").expect("a session");
    let own = |message, user| {
        Ask::post(message)
            .with("mcp-session-id", id)
            .with("x-user", user)
    };
    let ready = notice("notifications/initialized", json!({}));
    assert_eq!(site.ask(own(ready, "ada")).await.status(), 202);
    assert_eq!(site.ask(own(call(1, "write"), "ada")).await.status(), 403);
    let served = site.ask(own(call(2, "write"), "ada read write")).await;
    assert_eq!(text(&served), "ada: read,write");
    let stranger = site.ask(own(call(3, "who"), "eve read write")).await;
    assert_eq!(stranger.status(), 404, "the session is ada's");
}

#[tokio::test]
async fn in_a_batch_each_call_is_refused_for_itself() {
    let (site, _) = site().await;
    let opened = site
        .ask(Ask::initialize(Revision::V2025_03_26).with("x-user", "ada"))
        .await;
    let id = opened.head.get("mcp-session-id").expect("a session");
    let batch = json!([call(1, "who"), call(2, "write")]);
    let answer = Ask::post(batch)
        .with("mcp-session-id", id)
        .with("x-user", "ada read");
    let answer = site.ask(answer).await.json();
    assert_eq!(answer[0]["result"]["content"][0]["text"], "ada: read");
    let message = &answer[1]["error"]["message"];
    assert_eq!(message, "the tool `write` needs the scopes `write read`");
}
