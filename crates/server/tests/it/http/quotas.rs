//! What is kept for one caller: listeners, subscriptions, handshakes, used states.

use std::net::SocketAddr;

use axum::{Router, extract::Request, middleware, response::Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{
    Ask as Asking, Caller, ListenerLimits, MemoryBudget, Resource, Server, Tool, ToolError,
};
use turnbuckle_store::MemoryUsedStates;
use turnbuckle_transport::http::{Listener, Settings, serve};

use super::{
    ask::{Ask, request},
    raw::{Answer, Raw},
};

/// A server that trusts a header with the caller. It runs until this is dropped.
struct Believing {
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

/// Trusts a header; a real layer would check a token.
async fn believe(mut request: Request, next: middleware::Next) -> Response {
    let name = request.headers().get("x-user");
    if let Some(name) = name.and_then(|name| name.to_str().ok()) {
        let caller = Caller::new(name);
        request.extensions_mut().insert(caller);
    }
    next.run(request).await
}

impl Believing {
    async fn start(server: Server) -> Self {
        let live = server.build().expect("a server");
        let router = Router::new()
            .fallback_service(live.http())
            .layer(middleware::from_fn(believe));
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

    async fn ask(&self, who: &str, ask: Ask) -> Answer {
        let ask = ask.with("x-user", who);
        Raw::connect(self.address).await.ask(ask).await
    }

    /// Sends a listen request, which must be acknowledged.
    async fn listen(&self, who: &str, wish: Value) -> Raw {
        let ask = listen(wish).with("x-user", who);
        let mut raw = Raw::streaming(self.address, ask).await;
        let first = raw.message().await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        raw
    }

    /// Opens a session with these capabilities, and returns its id.
    async fn open(&self, who: &str, capabilities: Value) -> String {
        let ask = Ask::initialize_with(Revision::V2025_11_25, capabilities);
        let answer = self.ask(who, ask).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let id = answer.head.get("mcp-session-id");
        id.expect("a session").to_owned()
    }

    async fn in_session(&self, who: &str, id: &str, method: &str, params: Value) -> Answer {
        let ask = Ask::post(request(7, method, params)).with("mcp-session-id", id);
        self.ask(who, ask).await
    }
}

fn listen(wish: Value) -> Ask {
    let params = json!({ "notifications": wish });
    Ask::modern_as("l", "subscriptions/listen", params)
}

fn library() -> Server {
    Server::new("s", "1")
        .tool(Tool::new("now", async || "now"))
        .resource(Resource::new("page://{number}", async || "page"))
}

fn pages(count: usize) -> Vec<String> {
    let name = "x".repeat(100);
    (0..count)
        .map(|page| format!("page://{page}{name}"))
        .collect()
}

/// Asserts that a limit was reached, and that the error names its setting.
fn assert_refused(answer: &Answer, setting: &str) {
    assert_eq!(answer.json()["error"]["code"], 429, "{}", answer.text());
    assert!(answer.text().contains(setting), "{}", answer.text());
}

#[tokio::test]
async fn one_caller_cannot_take_all_places_of_listeners() {
    let limits = ListenerLimits::default().with_total(3).with_per_caller(2);
    let site = Believing::start(library().listeners(limits)).await;
    let wish = || json!({ "toolsListChanged": true });
    let ada = site.listen("ada", wish()).await;
    let _ada = site.listen("ada", wish()).await;
    let refused = site.ask("ada", listen(wish())).await;
    assert_refused(&refused, "`ListenerLimits::per_caller`");
    let eve = site.listen("eve", wish()).await;
    let refused = site.ask("bob", listen(wish())).await;
    assert_refused(&refused, "`ListenerLimits::total`");
    // When a client disconnects, its share is freed. It takes the server a moment to notice.
    drop((ada, eve));
    let answer = |ask: Ask| async { Raw::asking(site.address, ask.with("x-user", "ada")).await };
    let listening = async {
        loop {
            let mut raw = answer(listen(wish())).await;
            if raw.head().await.get("content-type") == Some("text/event-stream") {
                return;
            }
        }
    };
    let limit = crate::wire::TIMEOUT;
    tokio::time::timeout(limit, listening)
        .await
        .expect("a place is free again");
}

#[tokio::test]
async fn what_a_caller_listens_to_has_a_budget_on_every_revision() {
    let budget = MemoryBudget::default()
        .with_kept(400_000)
        .with_kept_per_caller(100_000);
    let site = Believing::start(library().memory_budget(budget)).await;
    // 256 bytes for each, and four times its URI.
    let wish = |count| json!({ "resourceSubscriptions": pages(count) });
    let held = site.listen("ada", wish(100)).await;
    let refused = site.ask("ada", listen(wish(100))).await;
    assert_refused(&refused, "`MemoryBudget::kept_per_caller`");
    let session = site.open("ada", json!({})).await;
    let subscribe = async |page: &str| {
        let params = json!({ "uri": page });
        let method = "resources/subscribe";
        site.in_session("ada", &session, method, params).await
    };
    let mut refused = None;
    for page in pages(100) {
        let answer = subscribe(&page).await;
        if answer.json().get("error").is_some() {
            refused = Some(answer);
            break;
        }
    }
    assert_refused(
        &refused.expect("there is no room for a hundred more"),
        "`MemoryBudget::kept_per_caller`",
    );
    let _other = site.listen("eve", wish(100)).await;
    drop(held);
}

#[tokio::test]
async fn listening_does_not_use_up_the_memory_for_messages() {
    let budget = MemoryBudget::default()
        .with_total(200_000)
        .with_per_caller(100_000);
    let site = Believing::start(library().memory_budget(budget)).await;
    let mut held = Vec::new();
    for _ in 0..100 {
        let wish = json!({ "resourceSubscriptions": pages(10) });
        held.push(site.listen("ada", wish).await);
    }
    let called = site.ask("ada", Ask::call("now", json!({}))).await;
    assert_eq!(called.status(), 200, "{}", called.text());
}

#[tokio::test]
async fn sessions_with_large_handshakes_take_the_place_of_older_ones() {
    let budget = MemoryBudget::default()
        .with_kept(3_000_000)
        .with_kept_per_caller(1_000_000);
    let site = Believing::start(library().memory_budget(budget)).await;
    let other = site.open("eve", json!({})).await;
    // Two kilobytes of text, but many times as much when parsed.
    let dense = json!({ "experimental": { "x": { "y": vec![json!({ "": 0 }); 300] } } });
    let first = site.open("ada", dense.clone()).await;
    let mut last = first.clone();
    for _ in 0..20 {
        // A session that has been silent for no time counts as in use.
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        last = site.open("ada", dense.clone()).await;
    }
    let alive = async |who, id: &str| site.in_session(who, id, "ping", json!({})).await.status();
    assert_eq!(alive("ada", &first).await, 404);
    assert_eq!(alive("ada", &last).await, 200);
    assert_eq!(alive("eve", &other).await, 200);
    // A value that is too large is rejected even if nothing else is kept.
    let large = json!({ "experimental": { "x": { "y": vec![json!({ "": 0 }); 1500] } } });
    let refused = site
        .ask("ada", Ask::initialize_with(Revision::V2025_11_25, large))
        .await;
    assert_eq!(refused.status(), 429);
    let named = refused.text().contains("`MemoryBudget::kept_per_caller`");
    assert!(named, "{}", refused.text());
    assert_eq!(alive("ada", &last).await, 200);
}

async fn look(Asking(ask): Asking) -> Result<String, ToolError> {
    let roots = ask.roots("roots").await?;
    Ok(format!("{} roots", roots.len()))
}

fn round(mut params: Value) -> Ask {
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    params["name"] = json!("look");
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        (capabilities): { "roots": {} },
    });
    Ask::post(request(1, "tools/call", params))
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/call")
        .with("mcp-name", "look")
}

#[tokio::test]
async fn the_spent_states_of_one_caller_have_a_quota() {
    let spent = MemoryUsedStates::with_limit(100).with_limit_per_owner(2);
    let server = library().tool(Tool::new("look", look)).single_use(spent);
    let site = Believing::start(server).await;
    let answered = async |who: &str| {
        let asked = site.ask(who, round(json!({}))).await.json();
        let state = &asked["result"]["requestState"];
        assert!(state.is_string(), "{asked}");
        let answers = json!({ "roots": { "roots": [] } });
        let params = json!({ "requestState": state, "inputResponses": answers });
        site.ask(who, round(params)).await
    };
    let text = |answer: &Answer| answer.json()["result"]["content"][0]["text"].clone();
    for _ in 0..2 {
        let done = answered("ada").await;
        assert_eq!(text(&done), "0 roots", "{}", done.text());
    }
    assert_refused(
        &answered("ada").await,
        "`MemoryUsedStates::with_limit_per_owner`",
    );
    assert_eq!(text(&answered("eve").await), "0 roots");
}
