//! A protected server, its issuer, and requests to it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use turnbuckle_auth::server::{Guard, Identity, Issuer};
use turnbuckle_server::{Caller, Http, Server, Tool};
use turnbuckle_test_authorization::{AuthorizationServer, LiveAuthorizationServer, Minting};
use turnbuckle_transport::http::{
    Listener,
    client::{Address, AgentSettings},
};

/// A protected server and its authorization server.
pub(crate) struct Site {
    pub(crate) issuer: LiveAuthorizationServer,
    pub(crate) resource: String,
    ahead: Arc<AtomicU64>,
    serving: JoinHandle<()>,
}

/// A response.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

async fn whoami(caller: Caller) -> String {
    let identity = caller.get::<Identity>();
    let identity = identity.map(|identity| {
        json!({
            "subject": identity.subject(), "issuer": identity.issuer(),
            "client": identity.client_id(), "granted": identity.scopes(),
            "email": identity.claim("email"),
        })
    });
    json!({ "id": caller.id(), "scopes": caller.scopes(), "identity": identity }).to_string()
}

impl Site {
    /// Starts a server whose guard accepts JWTs of the issuer.
    pub(crate) async fn start() -> Self {
        Self::with(|guard| guard).await
    }

    /// The same with a changed guard.
    pub(crate) async fn with(change: impl FnOnce(Guard) -> Guard) -> Self {
        let issuer = AuthorizationServer::new().start().await.expect("it starts");
        let trusted = Issuer::new(issuer.url());
        Self::of(issuer, trusted, change).await
    }

    /// Starts a server that accepts tokens of this issuer.
    pub(crate) async fn of(
        issuer: LiveAuthorizationServer,
        trusted: Issuer,
        change: impl FnOnce(Guard) -> Guard,
    ) -> Self {
        let listener = Listener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_address().expect("an address");
        let resource = format!("http://{address}/mcp");
        let ahead = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&ahead);
        let guard = Guard::new(&resource)
            .issuer(trusted)
            .clock(move || SystemTime::now() + Duration::from_secs(clock.load(Ordering::Relaxed)));
        let guard = change(guard).build().expect("a guard");
        let server = Server::new("notes", "1.0.0")
            .tool(Tool::new("whoami", whoami))
            .tool(Tool::new("write", whoami).scopes(["notes:write"]));
        let serving = tokio::spawn(async move {
            let served = server.serve(Http::listener(listener).protect(guard)).await;
            served.expect("it serves");
        });
        Self {
            issuer,
            resource,
            ahead,
            serving,
        }
    }

    /// A valid token, which the test can change before minting it.
    pub(crate) fn token(&self) -> Minting<'_> {
        self.issuer.token("ann").audience(&self.resource)
    }

    /// Advances the clock of the guard.
    pub(crate) fn pass(&self, seconds: u64) {
        self.ahead.fetch_add(seconds, Ordering::Relaxed);
    }

    /// Calls a tool with this token.
    pub(crate) async fn call(&self, tool: &str, token: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        self.post(tool, &[("authorization", &bearer)]).await
    }

    /// Calls a tool with these headers.
    pub(crate) async fn post(&self, tool: &str, headers: &[(&str, &str)]) -> Answer {
        let mut all = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        all.extend_from_slice(headers);
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        });
        self.send(Method::POST, "/mcp", &all, body.to_string())
            .await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, &[], "").await
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Answer {
        let base = Address::parse(&self.resource).expect("a URL");
        let address = base.join(path).expect("a URL");
        let agent = AgentSettings::new().agent(&address).expect("an agent");
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
            map.insert(name, HeaderValue::from_str(value).expect("a value"));
        }
        let reply = agent.send(method, &address, map, body.into()).await;
        let reply = reply.expect("an answer");
        Answer {
            status: reply.status(),
            headers: reply.headers().clone(),
            body: reply.bytes(1 << 20).await.expect("a body").to_vec(),
        }
    }

    /// How often the issuer received a request at a path.
    pub(crate) fn asked(&self, place: &str) -> usize {
        let requests = self.issuer.requests();
        requests.iter().filter(|line| line.ends_with(place)).count()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    /// The `WWW-Authenticate` header of the response.
    pub(crate) fn challenge(&self) -> &str {
        self.header("www-authenticate")
    }

    /// The caller as the handler saw it.
    pub(crate) fn caller(&self) -> Value {
        let json = self.json();
        let text = json["result"]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{} {json}", self.status));
        serde_json::from_str(text).expect("JSON")
    }

    /// Asserts that the request was refused, and that the challenge names the reason.
    #[track_caller]
    pub(crate) fn is_refused(&self, status: u16, why: &str) {
        assert_eq!(self.status.as_u16(), status, "{why}: {}", self.challenge());
        let text = format!("{} {}", self.challenge(), self.json()["error"]["message"]);
        assert!(text.contains(why), "`{why}` is not in: {text}");
    }
}
