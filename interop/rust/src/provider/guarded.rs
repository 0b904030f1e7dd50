//! A server behind a guard, and tokens that are fetched by hand.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use turnbuckle::{
    Caller, Http, Server, Tool, ToolError,
    auth::server::{Guard, Identity},
    transport::http::{
        Listener,
        client::{Address, AgentSettings, HeaderMap, HeaderValue, Method},
    },
};

use crate::report::chain;

/// Bytes of an answer: far more than any has.
const MAX_BYTES: usize = 1024 * 1024;

/// Who called, as the handler saw it.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Person {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    pub(crate) client: Option<String>,
    pub(crate) scopes: Vec<String>,
}

async fn whoami(caller: Caller) -> Result<String, ToolError> {
    let identity = caller.get::<Identity>();
    let identity = identity.ok_or_else(|| ToolError::new("nobody was verified"))?;
    let person = Person {
        subject: identity.subject().to_owned(),
        issuer: identity.issuer().to_owned(),
        client: identity.client_id().map(str::to_owned),
        scopes: caller.scopes().to_vec(),
    };
    serde_json::to_string(&person).map_err(|error| ToolError::new(error.to_string()))
}

/// A server behind a guard. It stops when it is dropped.
pub(crate) struct Guarded {
    pub(crate) url: String,
    serving: JoinHandle<()>,
}

impl Guarded {
    pub(crate) async fn start(
        path: &str,
        guard: impl FnOnce(Guard) -> Guard,
    ) -> Result<Self, String> {
        let listener = Listener::bind("127.0.0.1:0").await;
        let listener = listener.map_err(|error| chain(&error))?;
        let address = listener.local_address().ok_or("it has no address")?;
        let url = format!("http://{address}{path}");
        let guard = guard(Guard::new(&url)).build();
        let guard = guard.map_err(|error| chain(&error))?;
        let server = Server::new("notes", "1.0.0")
            .tool(Tool::new("whoami", whoami))
            .tool(Tool::new("write", whoami).scopes(["notes:write"]));
        let http = Http::listener(listener).path(path).protect(guard);
        let serving = tokio::spawn(async move {
            if let Err(error) = server.serve(http).await {
                eprintln!("{}", chain(&error));
            }
        });
        Ok(Self { url, serving })
    }

    /// The status of a call with this token.
    pub(crate) async fn status(&self, token: &str) -> Result<u16, String> {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": { "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            }},
        });
        let bearer = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
            ("authorization", &bearer),
        ];
        let (status, _) = post(&self.url, &headers, body.to_string()).await?;
        Ok(status)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// A token for a program, straight from the provider.
pub(crate) async fn request_token(issuer: &str, resource: &str) -> Result<String, String> {
    let form = format!(
        "grant_type=client_credentials&scope=notes:read&resource={resource}\
         &client_id=robot&client_secret=robot's+secret"
    );
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let (status, body) = post(&format!("{issuer}/token"), &kind, form).await?;
    let token = body["access_token"].as_str().map(str::to_owned);
    token.ok_or_else(|| format!("no token: {status} {body}"))
}

/// Gives a token back.
pub(crate) async fn revoke(issuer: &str, token: &str) -> Result<(), String> {
    let form = format!("token={token}&client_id=robot&client_secret=robot's+secret");
    let kind = [("content-type", "application/x-www-form-urlencoded")];
    let (status, body) = post(&format!("{issuer}/token/revocation"), &kind, form).await?;
    match status {
        200 => Ok(()),
        _ => Err(format!("not revoked: {status} {body}")),
    }
}

async fn post(url: &str, headers: &[(&str, &str)], body: String) -> Result<(u16, Value), String> {
    let address = Address::parse(url).map_err(|error| chain(&error))?;
    let agent = AgentSettings::new().agent(&address);
    let agent = agent.map_err(|error| chain(&error))?;
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).map_err(|error| chain(&error))?;
        let name: turnbuckle::transport::http::client::HeaderName =
            name.parse().map_err(|_| "no name of a header".to_owned())?;
        map.insert(name, value);
    }
    let answer = async {
        let reply = agent.send(Method::POST, &address, map, body.into()).await;
        let reply = reply.map_err(|error| chain(&error))?;
        let status = reply.status().as_u16();
        let body = reply
            .bytes(MAX_BYTES)
            .await
            .map_err(|error| chain(&error))?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    };
    let answer = tokio::time::timeout(Duration::from_secs(10), answer).await;
    answer.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}
