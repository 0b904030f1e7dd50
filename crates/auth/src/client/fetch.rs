//! Requests to authorization servers, with limits on time, size and target addresses.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use serde::de::DeserializeOwned;
use turnbuckle_base::error_chain;
use turnbuckle_transport::http::client::{
    Address, AddressNotAllowed, Agent, AgentSettings, HeaderMap, HeaderValue, HttpError, Method,
    Reply, StatusCode,
};

use super::flow_request::FlowObserver;
use super::reach::Reach;
use super::{AuthError, Problem, Step};

/// 30 s for a request and its response. Token endpoints that ask other services are slow, but do
/// not take minutes.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// 256 KiB: the largest documents of real providers have a tenth of this size.
const MAX_DOCUMENT_BYTES: usize = 256 * 1024;

/// At most 3 redirects of a document: for example from a bare domain to the main domain, to a path,
/// and one more.
const MAX_REDIRECTS: usize = 3;

/// Sends requests on behalf of a client of one server.
pub(crate) struct Fetcher {
    settings: AgentSettings,
    reach: Reach,
    server: Address,
    /// The agent for the server itself, which the user has chosen.
    own: OnceLock<Agent>,
    /// The agent for servers that the MCP server refers to.
    others: OnceLock<Agent>,
    observer: FlowObserver,
}

/// A request that has no effect on the server.
const PING: &str = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;

/// A response whose body was read.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// The result of looking for a metadata document.
pub(crate) enum Found<T> {
    /// The document was found.
    Document(T),
    /// The document is not at this URL.
    Nothing(StatusCode),
}

/// Whether the response is a refusal because a token is missing. A 403 without `WWW-Authenticate`
/// has other reasons.
fn is_refusal(reply: &Reply) -> bool {
    match reply.status() {
        StatusCode::UNAUTHORIZED => true,
        StatusCode::FORBIDDEN => reply.headers().contains_key(http::header::WWW_AUTHENTICATE),
        _ => false,
    }
}

impl Fetcher {
    pub(crate) fn new(settings: AgentSettings, reach: Reach, server: Address) -> Self {
        Self {
            settings: settings.without_redirects(),
            reach,
            server,
            own: OnceLock::new(),
            others: OnceLock::new(),
            observer: FlowObserver::default(),
        }
    }

    /// Reports each request to this observer.
    pub(crate) fn watched_by(mut self, observer: FlowObserver) -> Self {
        self.observer = observer;
        self
    }

    /// Fetches a document. The request has no credentials, so redirects are followed, as long as
    /// each of them leads to an allowed address.
    pub(crate) async fn document<T: DeserializeOwned>(
        &self,
        step: Step,
        address: &Address,
    ) -> Result<Found<T>, AuthError> {
        self.document_with(step, address, HeaderMap::new()).await
    }

    /// Like [`document`](Self::document), with additional headers, none of which may be a secret.
    pub(crate) async fn document_with<T: DeserializeOwned>(
        &self,
        step: Step,
        address: &Address,
        headers: HeaderMap,
    ) -> Result<Found<T>, AuthError> {
        let mut at = address.clone();
        for _ in 0..=MAX_REDIRECTS {
            let answer = self
                .send(step, Method::GET, &at, headers.clone(), Bytes::new())
                .await?;
            if answer.status.is_redirection() {
                at = redirected(step, &at, &answer)?;
                continue;
            }
            if !answer.status.is_success() {
                return Ok(Found::Nothing(answer.status));
            }
            return match serde_json::from_slice(&answer.body) {
                Ok(document) => Ok(Found::Document(document)),
                // Many web servers answer every path with an HTML page.
                Err(_) if !is_json(&answer.headers) => Ok(Found::Nothing(StatusCode::NOT_FOUND)),
                Err(error) => {
                    let problem = Problem::Malformed(format!("the document is invalid: {error}"));
                    Err(AuthError::new(step, problem).at(&at))
                }
            };
        }
        let problem = Problem::Malformed(format!("it redirected more than {MAX_REDIRECTS} times"));
        Err(AuthError::new(step, problem).at(address))
    }

    /// Returns the headers with which the server refuses a request without credentials; `None` if
    /// it does not refuse it.
    pub(crate) async fn refusal(&self) -> Result<Option<HeaderMap>, AuthError> {
        const STEP: Step = Step::ResourceMetadata;
        self.reach.check(STEP, &self.server)?;
        let agent = self.agent(&self.server);
        let agent = agent.map_err(|error| failed(STEP, &self.server, error))?;
        let asked = async {
            // Do not read the body: it may be an endless stream.
            let reply = agent.events(&self.server, HeaderMap::new()).await?;
            if reply.status().is_success() || is_refusal(&reply) {
                return Ok(reply);
            }
            // A server without a GET stream may answer that before it checks authorization, so send
            // a ping.
            let ping = Bytes::from_static(PING.as_bytes());
            Box::pin(agent.post(&self.server, HeaderMap::new(), ping)).await
        };
        match tokio::time::timeout(REQUEST_TIMEOUT, asked).await {
            Ok(Ok(reply)) => Ok(is_refusal(&reply).then(|| reply.headers().clone())),
            Ok(Err(error)) => Err(failed(STEP, &self.server, error)),
            Err(_) => Err(AuthError::new(STEP, Problem::Unreachable).at(&self.server)),
        }
    }

    /// Sends a form. Redirects are not followed, because the content is meant for this server only.
    pub(crate) async fn form(
        &self,
        step: Step,
        address: &Address,
        mut headers: HeaderMap,
        form: String,
    ) -> Result<Answer, AuthError> {
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        headers.insert(CONTENT_TYPE, kind);
        self.post(step, address, headers, form.into()).await
    }

    /// Sends JSON. Redirects are not followed, because the content is meant for this server only.
    pub(crate) async fn json(
        &self,
        step: Step,
        address: &Address,
        body: &serde_json::Value,
    ) -> Result<Answer, AuthError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.post(step, address, headers, body.to_string().into())
            .await
    }

    async fn post(
        &self,
        step: Step,
        address: &Address,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, AuthError> {
        let answer = self
            .send(step, Method::POST, address, headers, body)
            .await?;
        if answer.status.is_redirection() {
            let to = redirected(step, address, &answer)?;
            let problem = Problem::Malformed(format!(
                "it redirects to {to}, but this request follows no redirects"
            ));
            return Err(AuthError::new(step, problem)
                .at(address)
                .rule("OAuth 2.1, 7.12.2")
                .hint("the metadata has to name the endpoint itself"));
        }
        Ok(answer)
    }

    async fn send(
        &self,
        step: Step,
        method: Method,
        address: &Address,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Answer, AuthError> {
        self.reach.check(step, address)?;
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let agent = self
            .agent(address)
            .map_err(|error| failed(step, address, error))?;
        tracing::debug!(%method, url = %address, "sending a request for authorization: {step}");
        self.observer.tell(step, address, None);
        let whole = async { read(agent.send(method, address, headers, body).await?).await };
        match tokio::time::timeout(REQUEST_TIMEOUT, whole).await {
            Ok(Ok(answer)) => {
                self.observer.tell(step, address, Some(answer.status));
                Ok(answer)
            }
            Ok(Err(error)) => Err(failed(step, address, error)),
            Err(_) => Err(AuthError::new(step, Problem::Unreachable)
                .at(address)
                .hint(format!("the limit is {REQUEST_TIMEOUT:?}; try again"))),
        }
    }

    /// Requests to other servers share connections, separate from those to the MCP server itself.
    fn agent(&self, address: &Address) -> Result<Agent, HttpError> {
        if !address.is_https() {
            // Plain `http` needs no certificates, which are slow to load.
            return self.settings_for(address).agent(address);
        }
        let slot = if address.is_same_origin(&self.server) {
            &self.own
        } else {
            &self.others
        };
        if let Some(agent) = slot.get() {
            return Ok(agent.clone());
        }
        let agent = self.settings_for(address).agent(address)?;
        Ok(slot.get_or_init(|| agent).clone())
    }

    fn settings_for(&self, address: &Address) -> AgentSettings {
        let settings = self.settings.clone();
        if address.is_same_origin(&self.server) {
            return settings;
        }
        let (reach, server_is_local) = (self.reach, self.server.is_loopback());
        settings.with_screen(move |found| reach.passes(found, server_is_local))
    }
}

impl Answer {
    /// Reads the body as JSON.
    pub(crate) fn parse<T: DeserializeOwned>(
        &self,
        step: Step,
        address: &Address,
    ) -> Result<T, AuthError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            // Leave out the text of the response, because it may contain tokens.
            let problem = Problem::Malformed(format!(
                "the answer cannot be read (line {}, column {})",
                error.line(),
                error.column()
            ));
            AuthError::new(step, problem).at(address)
        })
    }
}

async fn read(reply: Reply) -> Result<Answer, HttpError> {
    Ok(Answer {
        status: reply.status(),
        headers: reply.headers().clone(),
        body: reply.bytes(MAX_DOCUMENT_BYTES).await?,
    })
}

fn redirected(step: Step, at: &Address, answer: &Answer) -> Result<Address, AuthError> {
    let location = answer.headers.get(LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let to = location.and_then(|location| at.join(location).ok());
    to.ok_or_else(|| {
        let problem = Problem::Malformed("its redirect has no valid `Location`".to_owned());
        AuthError::new(step, problem).at(at)
    })
}

fn failed(step: Step, address: &Address, error: HttpError) -> AuthError {
    if let Some(out) = error_chain::find::<AddressNotAllowed>(&error) {
        let problem = Problem::Forbidden(out.to_string());
        return AuthError::new(step, problem)
            .at(address)
            .rule("security best practices, \"Server-Side Request Forgery\"")
            .hint("allow private networks if the server and this machine are in the same one");
    }
    let hint = match &error {
        HttpError::TooLarge { .. } => Some("the document is too large"),
        _ => None,
    };
    let failed = AuthError::new(step, Problem::Unreachable)
        .at(address)
        .caused_by(error);
    match hint {
        Some(hint) => failed.hint(hint),
        None => failed,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("json"))
}
