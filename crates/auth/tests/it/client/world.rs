//! A protected server and its authorization server on one real socket, controlled by the test.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use turnbuckle_auth::Secret;
use turnbuckle_auth::client::{AuthorizationRequest, Browser, BrowserVisit, OAuth};
use turnbuckle_transport::http::client::{
    Address, AgentSettings, BoxError, BoxFuture, HeaderMap, HttpError, Method, Reply,
};

/// A request that arrived.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

impl Seen {
    /// A parameter of the form, or of the query.
    pub(crate) fn param(&self, name: &str) -> Option<String> {
        let text = if self.body.is_empty() {
            &self.query
        } else {
            &self.body
        };
        let mut pairs = form_urlencoded::parse(text.as_bytes());
        pairs
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.into_owned())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A response to send.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string(),
        }
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: vec![],
            body: String::new(),
        }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

type Rule = Arc<dyn Fn(&Seen) -> Option<Answer> + Send + Sync>;

/// The behaviour of the world, which a test can change.
pub(crate) struct Plan {
    /// Rules that are tried before everything below.
    rules: Vec<Rule>,
    /// Documents by path.
    pub(crate) documents: BTreeMap<String, Value>,
    /// The challenge for requests without a valid token.
    pub(crate) challenge: String,
    /// The `iss` that the authorization server sends in its redirects.
    pub(crate) iss: Option<String>,
    pub(crate) accepted: HashSet<String>,
    /// How long tokens live, in seconds.
    pub(crate) life: Option<u64>,
    pub(crate) gives_refresh_tokens: bool,
    issued: usize,
}

pub(crate) struct World {
    pub(crate) url: String,
    shared: Arc<Shared>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    plan: Mutex<Plan>,
    log: Mutex<Vec<Seen>>,
}

impl Drop for World {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl World {
    /// An honest world of 2026-07-28, with metadata below the path and all advertised features.
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let resource = "/.well-known/oauth-protected-resource/mcp";
        let plan = Plan {
            rules: vec![],
            documents: BTreeMap::from([
                (
                    resource.to_owned(),
                    json!({"resource": format!("{url}/mcp"), "authorization_servers": [url]}),
                ),
                (
                    "/.well-known/oauth-authorization-server".to_owned(),
                    server_metadata(&url),
                ),
            ]),
            challenge: format!(r#"Bearer resource_metadata="{url}{resource}""#),
            iss: Some(url.clone()),
            accepted: HashSet::new(),
            life: None,
            gives_refresh_tokens: false,
            issued: 0,
        };
        let shared = Arc::new(Shared {
            plan: Mutex::new(plan),
            log: Mutex::default(),
        });
        let task = tokio::spawn(serve(listener, shared.clone()));
        Self { url, shared, task }
    }

    pub(crate) fn plan(&self) -> MutexGuard<'_, Plan> {
        self.shared.plan.lock().unwrap()
    }

    /// Adds a rule that sees requests before anything else.
    pub(crate) fn rule(&self, rule: impl Fn(&Seen) -> Option<Answer> + Send + Sync + 'static) {
        self.plan().rules.push(Arc::new(rule));
    }

    /// Changes the metadata of the authorization server.
    pub(crate) fn set_server(&self, name: &str, value: Value) {
        let mut plan = self.plan();
        let path = "/.well-known/oauth-authorization-server";
        plan.documents.get_mut(path).unwrap()[name] = value;
    }

    /// Changes the metadata of the resource.
    pub(crate) fn set_resource(&self, name: &str, value: Value) {
        let mut plan = self.plan();
        let path = "/.well-known/oauth-protected-resource/mcp";
        plan.documents.get_mut(path).unwrap()[name] = value;
    }

    pub(crate) fn log(&self) -> Vec<Seen> {
        self.shared.log.lock().unwrap().clone()
    }

    /// The requests to a path.
    pub(crate) fn at(&self, path: &str) -> Vec<Seen> {
        let log = self.log();
        log.into_iter().filter(|seen| seen.path == path).collect()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.log().into_iter().map(|seen| seen.path).collect()
    }

    pub(crate) fn mcp(&self) -> Address {
        Address::parse(&format!("{}/mcp", self.url)).unwrap()
    }

    /// Sends a request of a client with this hook.
    pub(crate) async fn request(&self, oauth: &OAuth) -> Result<Reply, HttpError> {
        request(oauth, &self.mcp()).await
    }

    /// Sends a request that must fail, and returns its error.
    pub(crate) async fn error(&self, oauth: &OAuth) -> turnbuckle_auth::client::AuthError {
        let error = self.request(oauth).await.unwrap_err();
        auth_error(&error)
    }
}

pub(crate) async fn request(oauth: &OAuth, address: &Address) -> Result<Reply, HttpError> {
    let settings = AgentSettings::new().with_authorize(Arc::new(oauth.clone()));
    let agent = settings.agent(address)?;
    agent.post(address, HeaderMap::new(), "{}".into()).await
}

pub(crate) fn auth_error(error: &HttpError) -> turnbuckle_auth::client::AuthError {
    let source = std::error::Error::source(error).unwrap();
    source
        .downcast_ref::<turnbuckle_auth::client::AuthError>()
        .unwrap_or_else(|| panic!("{source:?}"))
        .clone()
}

pub(crate) fn server_metadata(url: &str) -> Value {
    json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "registration_endpoint": format!("{url}/register"),
        "revocation_endpoint": format!("{url}/revoke"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
    })
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = shared.clone();
        tokio::spawn(async move {
            if let Some((mut stream, seen)) = read(stream).await {
                shared.log.lock().unwrap().push(seen.clone());
                let answer = shared.plan.lock().unwrap().answer(&seen);
                let mut text = format!("HTTP/1.1 {} X\r\n", answer.status);
                for (name, value) in &answer.headers {
                    let _ = write!(text, "{name}: {value}\r\n");
                }
                let length = answer.body.len();
                let _ = write!(
                    text,
                    "content-length: {length}\r\nconnection: close\r\n\r\n"
                );
                text += &answer.body;
                let _ = stream.write_all(text.as_bytes()).await;
                let _ = stream.shutdown().await;
            }
        });
    }
}

async fn read(mut stream: TcpStream) -> Option<(TcpStream, Seen)> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut chunk = [0; 4096];
        let count = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.lines();
    let mut words = lines.next()?.split(' ');
    let target = words.nth(1)?.to_owned();
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while bytes.len() < head + length {
        let mut chunk = [0; 4096];
        let count = stream
            .read(&mut chunk)
            .await
            .ok()
            .filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
    }
    let body = String::from_utf8(bytes[head..head + length].to_vec()).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let seen = Seen {
        path,
        query,
        headers,
        body,
    };
    Some((stream, seen))
}

impl Plan {
    fn answer(&mut self, seen: &Seen) -> Answer {
        if let Some(answer) = self.rules.iter().rev().find_map(|rule| rule(seen)) {
            return answer;
        }
        if let Some(document) = self.documents.get(&seen.path) {
            return Answer::json(200, document);
        }
        match seen.path.as_str() {
            "/mcp" => self.mcp(seen),
            "/register" => Answer::json(201, &json!({"client_id": "registered-1"})),
            "/authorize" => self.authorize(seen),
            "/token" => self.issue(),
            "/revoke" => Answer::empty(200),
            _ => Answer::empty(404),
        }
    }

    fn mcp(&self, seen: &Seen) -> Answer {
        let token = seen.headers.get("authorization");
        let token = token
            .and_then(|header| header.split_once(' '))
            .map(|(_, token)| token);
        match token {
            Some(token) if self.accepted.contains(token) => Answer::json(200, &json!({})),
            _ => Answer::empty(401).with("www-authenticate", &*self.challenge),
        }
    }

    fn authorize(&self, seen: &Seen) -> Answer {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("code", "c0de");
        query.append_pair("state", &seen.param("state").unwrap());
        if let Some(iss) = &self.iss {
            query.append_pair("iss", iss);
        }
        let back = seen.param("redirect_uri").unwrap();
        Answer::empty(302).with("location", format!("{back}?{}", query.finish()))
    }

    /// Issues a token that the server accepts.
    pub(crate) fn issue(&mut self) -> Answer {
        self.issued += 1;
        let token = format!("t0ken-{}", self.issued);
        let mut answer = json!({"access_token": token, "token_type": "Bearer"});
        if let Some(life) = self.life {
            answer["expires_in"] = json!(life);
        }
        if self.gives_refresh_tokens {
            answer["refresh_token"] = json!(format!("r3fresh-{}", self.issued));
        }
        self.accepted.insert(token);
        Answer::json(200, &answer)
    }
}

/// A browser that opens the page and is redirected at once.
#[derive(Clone)]
pub(crate) struct Straight;

impl Browser for Straight {
    fn prepare<'a>(
        &'a self,
        _known: &'a [String],
    ) -> BoxFuture<'a, Result<Box<dyn BrowserVisit>, BoxError>> {
        let visit: Box<dyn BrowserVisit> = Box::new(self.clone());
        Box::pin(ready(Ok(visit)))
    }
}

impl BrowserVisit for Straight {
    fn redirect_uri(&self) -> &'static str {
        "http://127.0.0.1:9/callback"
    }

    fn ask(
        self: Box<Self>,
        request: &AuthorizationRequest,
    ) -> BoxFuture<'_, Result<Secret, BoxError>> {
        Box::pin(visit(request.url()))
    }
}

/// Opens a page, and returns the URL that it redirects to.
pub(crate) async fn visit(url: &str) -> Result<Secret, BoxError> {
    let page = Address::parse(url)?;
    let agent = AgentSettings::new().without_redirects().agent(&page)?;
    let reply = agent
        .send(Method::GET, &page, HeaderMap::new(), bytes::Bytes::new())
        .await?;
    let location = reply
        .headers()
        .get("location")
        .ok_or("the answer is not a redirect")?;
    Ok(Secret::new(location.to_str()?))
}

/// Returns the text of a page.
pub(crate) async fn get(url: &str) -> String {
    let address = Address::parse(url).unwrap();
    let authority = address.uri().authority().unwrap().as_str();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let path = address.uri().path_and_query().unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {authority}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// A client whose user consents at once.
pub(crate) fn oauth() -> OAuth {
    OAuth::new("my-app").browser(Straight)
}
