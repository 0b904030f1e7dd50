//! HTTP+SSE, the transport of 2024-11-05.

use serde_json::{Value, json};
use turnbuckle_server::Tool;

use super::{
    ask::{Ask, call, notice, request},
    raw::{Answer, Raw},
    site::{SOON, Site},
};

/// A client: its stream, and the URL to which it posts.
struct Client<'a> {
    site: &'a Site,
    stream: Raw,
    place: String,
}

impl<'a> Client<'a> {
    async fn open(site: &'a Site, path: &str) -> Self {
        let ask = Ask::new("GET", path).with("accept", "text/event-stream");
        let mut stream = Raw::streaming(site.address, ask).await;
        // transports: the first event MUST be `endpoint`.
        let event = stream.event().await.expect("the endpoint");
        assert_eq!(event.event.as_deref(), Some("endpoint"));
        let folder = &path[..=path.rfind('/').expect("a path")];
        let place = format!("{folder}{}", event.data).replace("sse/../", "");
        Self {
            site,
            stream,
            place,
        }
    }

    async fn post(&self, message: Value) -> Answer {
        let ask = Ask::new("POST", &self.place)
            .with("content-type", "application/json")
            .body(message.to_string());
        self.site.ask(ask).await
    }

    async fn asked(&mut self, message: Value) -> Value {
        let answer = self.post(message).await;
        assert_eq!(
            (answer.status(), answer.body.len()),
            (202, 0),
            "{}",
            answer.text()
        );
        self.stream.message().await
    }

    async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" },
        });
        let opened = self.asked(request(0, "initialize", params)).await;
        assert_eq!(opened["result"]["protocolVersion"], "2024-11-05");
        self.post(notice("notifications/initialized", json!({})))
            .await;
    }
}

// rule: H2
#[tokio::test]
async fn a_client_of_the_first_revision_is_served() {
    let site = Site::start().await;
    for path in ["/sse", "/mcp/sse", "/sse/", "/mcp/sse/"] {
        let mut client = Client::open(&site, path).await;
        client.initialize().await;
        let called = client.asked(call(1, "now")).await;
        assert_eq!(called["result"]["content"][0]["text"], "now", "{path}");
        let refused = client.asked(request(2, "no/such/method", json!({}))).await;
        assert_eq!(refused["error"]["code"], -32601);
    }
}

#[tokio::test]
async fn calls_run_side_by_side_and_can_be_cancelled() {
    let site = Site::start().await;
    let mut client = Client::open(&site, "/sse").await;
    client.initialize().await;
    for id in [1, 2] {
        assert_eq!(client.post(call(id, "wait")).await.status(), 202);
    }
    site.gate.arrived(2).await;
    assert_eq!(client.asked(call(3, "now")).await["id"], 3);
    client
        .post(notice("notifications/cancelled", json!({ "requestId": 1 })))
        .await;
    site.gate.dropped(1).await;
    site.gate.open(1);
    assert_eq!(client.stream.message().await["id"], 2);
}

#[tokio::test]
async fn the_session_is_the_stream() {
    let site = Site::start().await;
    let mut client = Client::open(&site, "/sse").await;
    client.initialize().await;
    client.post(call(1, "wait")).await;
    site.gate.arrived(1).await;
    let (place, stream) = (client.place.clone(), client.stream);
    drop(stream);
    site.gate.dropped(1).await;
    let ask = Ask::new("POST", &place)
        .with("content-type", "application/json")
        .body(call(2, "now").to_string());
    assert_eq!(site.ask(ask).await.status(), 404);
}

#[tokio::test]
async fn changes_and_comments_come_on_the_stream() {
    let site = Site::set(|settings| settings.keep_alive = SOON).await;
    let mut client = Client::open(&site, "/sse").await;
    assert_eq!(client.stream.piece().await.as_deref(), Some(&b":\n\n"[..]));
    client.initialize().await;
    site.live
        .catalog()
        .add_tool(Tool::new("late", async || ""))
        .expect("a tool");
    let change = client.stream.message().await;
    assert_eq!(change["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_on_the_stream() {
    let site = Site::start().await;
    let mut client = Client::open(&site, "/sse").await;
    client.initialize().await;
    let ask = Ask::new("POST", &client.place)
        .with("content-type", "application/json")
        .body("{");
    assert_eq!(site.ask(ask).await.status(), 202);
    assert_eq!(client.stream.message().await["error"]["code"], -32700);
}

#[tokio::test]
async fn wrong_requests_have_their_statuses() {
    let site = Site::start().await;
    let client = Client::open(&site, "/sse").await;
    let post = |path: &str| {
        Ask::new("POST", path)
            .with("content-type", "application/json")
            .body("{}")
    };
    for (ask, status) in [
        (post("/messages"), 404),
        (post("/messages?session="), 404),
        (post("/messages?session=unknown"), 404),
        (post(&client.place).with("content-type", "text/plain"), 415),
        (Ask::new("GET", &client.place), 405),
        (post("/sse"), 405),
        (
            Ask::new("GET", "/sse").with("accept", "application/json"),
            406,
        ),
        (
            Ask::new("GET", "/sse").with("origin", "https://evil.example"),
            403,
        ),
        (post(&client.place).with("host", "evil.example"), 403),
    ] {
        let answer = site.ask(ask.clone()).await;
        assert_eq!(answer.status(), status, "{ask:?}");
        if status == 405 {
            assert!(answer.head.get("allow").is_some());
        }
    }
}

/// `Mcp-Method` and `Mcp-Name` exist since 2026-07-28: in a session of 2024-11-05 they mean
/// nothing. A modern request is compared with them here as it is at the endpoint.
// rule: X2
#[tokio::test]
async fn headers_bind_only_requests_of_a_revision_that_has_them() {
    let site = Site::start().await;
    let mut client = Client::open(&site, "/sse").await;
    client.initialize().await;
    let post = |message: &Value| {
        Ask::new("POST", &client.place)
            .with("content-type", "application/json")
            .body(message.to_string())
    };
    let of_session = post(&call(1, "now"))
        .with("mcp-method", "tools/list")
        .with("mcp-name", "other");
    assert_eq!(site.ask(of_session).await.status(), 202);
    assert_eq!(
        client.stream.message().await["result"]["content"][0]["text"],
        "now"
    );

    let mut modern = call(2, "now");
    modern["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let modern = post(&modern).with("mcp-protocol-version", "2026-07-28");
    for (method, name) in [("tools/list", "now"), ("tools/call", "other")] {
        let ask = modern
            .clone()
            .with("mcp-method", method)
            .with("mcp-name", name);
        let answer = site.ask(ask).await;
        assert_eq!(
            (answer.status(), answer.code()),
            (400, -32020),
            "{method} {name}"
        );
        assert_eq!(answer.json()["id"], 2);
    }
    let ask = modern
        .with("mcp-method", "tools/call")
        .with("mcp-name", "now");
    assert_eq!(site.ask(ask).await.status(), 202);
    assert_eq!(client.stream.message().await["id"], 2);
}
