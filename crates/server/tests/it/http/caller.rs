//! Sessions belong to the caller that a layer in front of the server has set.

use axum::{Router, extract::Request, middleware, response::Response};
use serde_json::json;
use tokio::sync::oneshot;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Caller, Server, Tool};
use turnbuckle_transport::http::{Listener, Settings, serve};

use super::{
    ask::{Ask, call, request},
    raw::Raw,
};

/// Trusts a header; a real layer would check a token.
async fn believe(mut request: Request, next: middleware::Next) -> Response {
    let name = request
        .headers()
        .get("x-user")
        .and_then(|name| name.to_str().ok());
    if let Some(name) = name.map(str::to_owned) {
        request.extensions_mut().insert(Caller::new(name));
    }
    next.run(request).await
}

async fn who(caller: Caller) -> String {
    caller.id().unwrap_or("local").to_owned()
}

// rule: E10
#[tokio::test]
async fn a_session_is_bound_to_its_caller() {
    let live = Server::new("s", "1")
        .tool(Tool::new("who", who))
        .build()
        .expect("a server");
    let router = Router::new()
        .fallback_service(live.http())
        .layer(middleware::from_fn(believe));
    let listener = Listener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_address().expect("an address");
    let (_stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(serve(listener, router, Settings::default(), async {
        let _ = stopped.await;
    }));
    let ask = async |ask: Ask| Raw::connect(address).await.ask(ask).await;

    let opened = ask(Ask::initialize(Revision::V2025_06_18).with("x-user", "ada")).await;
    let id = opened
        .head
        .get("mcp-session-id")
        .expect("a session")
        .to_owned();
    let own = |ask: Ask| ask.with("mcp-session-id", &id);
    let said = ask(own(Ask::post(call(1, "who"))).with("x-user", "ada")).await;
    assert_eq!(said.json()["result"]["content"][0]["text"], "ada");
    // Another caller who knows the id does not even learn that there is a session.
    let unknown = ask(Ask::post(call(1, "who")).with("mcp-session-id", "unknown")).await;
    assert_eq!(unknown.status(), 404);
    for stranger in [Some("eve"), None] {
        for attempt in [
            Ask::post(call(2, "who")),
            Ask::get(),
            Ask::new("DELETE", "/mcp"),
            Ask::post(json!([request(1, "ping", json!({}))])),
        ] {
            let attempt = own(attempt);
            let attempt = match stranger {
                Some(name) => attempt.with("x-user", name),
                None => attempt,
            };
            let answer = ask(attempt).await;
            assert_eq!((answer.status(), answer.text()), (404, unknown.text()));
        }
    }
    let still = ask(own(Ask::post(call(3, "who"))).with("x-user", "ada")).await;
    assert_eq!(still.status(), 200);
    let modern = ask(Ask::call("who", json!({})).with("x-user", "eve")).await;
    assert_eq!(modern.json()["result"]["content"][0]["text"], "eve");
}
