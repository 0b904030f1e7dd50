//! A client that performs each step by hand.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use serde_json::{Value, json};
use turnbuckle_auth::jose::{SigningKey, digest};
use turnbuckle_test_authorization::LiveAuthorizationServer;
use turnbuckle_transport::http::client::{Address, AgentSettings};

pub(crate) const RESOURCE: &str = "http://127.0.0.1:1/mcp";
pub(crate) const CALLBACK: &str = "http://127.0.0.1:7777/callback";
pub(crate) const VERIFIER: &str = "a verifier that has at least forty-three characters";

/// A response.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
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

    /// The error code, or an empty text.
    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// The query of the redirect URL.
    pub(crate) fn location(&self) -> Vec<(String, String)> {
        let (_, query) = self.header("location").split_once('?').expect("a query");
        form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect()
    }

    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        let found = self.location().into_iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }
}

pub(crate) async fn send(
    method: Method,
    url: &str,
    headers: &[(&str, &str)],
    body: impl Into<Bytes>,
) -> Answer {
    let address = Address::parse(url).expect("a URL");
    let agent = AgentSettings::new().without_redirects().agent(&address);
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
        map.append(name, HeaderValue::from_str(value).expect("a value"));
    }
    let reply = agent
        .expect("an agent")
        .send(method, &address, map, body.into())
        .await;
    let reply = reply.expect("an answer");
    Answer {
        status: reply.status(),
        headers: reply.headers().clone(),
        body: reply.bytes(1 << 20).await.expect("a body").to_vec(),
    }
}

pub(crate) async fn get(url: &str) -> Answer {
    send(Method::GET, url, &[], "").await
}

pub(crate) async fn post_json(url: &str, body: &Value) -> Answer {
    let kind = [(header::CONTENT_TYPE.as_str(), "application/json")];
    send(Method::POST, url, &kind, body.to_string()).await
}

pub(crate) fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

/// Posts a form to an endpoint of the server.
pub(crate) async fn post(
    server: &LiveAuthorizationServer,
    place: &str,
    headers: &[(&str, &str)],
    fields: &[(&str, &str)],
) -> Answer {
    let mut all = vec![("content-type", "application/x-www-form-urlencoded")];
    all.extend_from_slice(headers);
    let url = format!("{}{place}", server.url());
    send(Method::POST, &url, &all, form(fields)).await
}

pub(crate) async fn token(server: &LiveAuthorizationServer, fields: &[(&str, &str)]) -> Answer {
    post(server, "/token", &[], fields).await
}

/// Requests the authorization endpoint. The additional fields replace those of the same name.
pub(crate) async fn authorize(
    server: &LiveAuthorizationServer,
    client: &str,
    more: &[(&str, &str)],
) -> Answer {
    let challenge = digest(VERIFIER);
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", CALLBACK),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("state", "xyz"),
        ("resource", RESOURCE),
        ("scope", "a b"),
    ];
    fields.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
    fields.extend(more.iter().filter(|(_, value)| !value.is_empty()));
    get(&format!("{}/authorize?{}", server.url(), form(&fields))).await
}

/// Gets a code for this client.
pub(crate) async fn code(server: &LiveAuthorizationServer, client: &str) -> String {
    let answer = authorize(server, client, &[]).await;
    answer.parameter("code").expect("a code")
}

/// The claims of a token, unverified.
pub(crate) fn claims(token: &str) -> Value {
    let token = turnbuckle_auth::jose::Jws::parse(token).expect("a JWT");
    json!(token.unverified_claims())
}

/// Makes a proof for the token endpoint.
pub(crate) fn proof(server: &LiveAuthorizationServer, key: &SigningKey, more: &Value) -> String {
    let header = json!({ "typ": "dpop+jwt", "alg": "ES256", "jwk": key.public_jwk() });
    let mut claims = json!({
        "htm": "POST", "htu": format!("{}/token", server.url()), "iat": now(),
        "jti": format!("{:?}", std::time::Instant::now()),
    });
    for (name, value) in more.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    key.sign_with_header(&header, &claims).expect("a proof")
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("it is after 1970").as_secs()
}
