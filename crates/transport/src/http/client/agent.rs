//! The HTTP agent that sends requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, LOCATION, PROXY_AUTHORIZATION, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::client::proxy::matcher::Intercept;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use turnbuckle_base::error_chain;

use super::authorize::{Authorize, Challenge, Decision, RequestHead, ResponseHead};
use super::connector::{Connector, Proxies};
use super::http1::{Body, Exchange, HeadError, SendError};
use super::moved::Moved;
use super::{Address, BoxError, HttpError, Reply};

/// 5: a load balancer, a canonical path and a version are three redirects.
const MAX_REDIRECTS: usize = 5;

/// 5 refusals of one request: a token is fetched, its scope is extended, each of these once more with
/// the nonce that the server requires in proofs, and one for a token that expired meanwhile.
pub const MAX_CHALLENGES: usize = 5;

/// 15 min for a hook: a user signs in, and may first have to find the second factor.
pub const MAX_HOOK_TIME: Duration = Duration::from_mins(15);

/// 4 s without a request. Node and uvicorn close a connection that was not used for 5 s, and a request
/// that is sent at that moment is lost; opening another connection only takes some milliseconds.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// 20 s without a frame of HTTP/2, and another 20 s for the answer to a ping: this detects a connection
/// whose other end has silently disappeared, before more calls are sent on it.
const HTTP2_PING: Duration = Duration::from_secs(20);

/// 32 unused connections to one server; HTTP/2 needs only one.
const MAX_IDLE_CONNECTIONS: usize = 32;

const NAME: &str = concat!("turnbuckle/", env!("CARGO_PKG_VERSION"));

/// Sends HTTP requests, and reuses connections. Clones share the connections.
#[derive(Clone)]
pub struct Agent {
    /// For plain connections without a proxy.
    plain: Exchange,
    /// For TLS and proxies.
    client: Client<Connector, Full<Bytes>>,
    proxies: Arc<Proxies>,
    headers: HeaderMap,
    authorize: Option<Arc<dyn Authorize>>,
    redirects: Redirects,
    moved: Arc<Moved>,
}

/// How redirects are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirects {
    /// Redirects that keep the request and stay on the same server are followed.
    Follow,
    /// Redirects are returned like other responses.
    HandBack,
}

impl Agent {
    pub(super) fn new(
        connector: Connector,
        proxies: Arc<Proxies>,
        mut headers: HeaderMap,
        authorize: Option<Arc<dyn Authorize>>,
    ) -> Self {
        headers
            .entry(USER_AGENT)
            .or_insert(HeaderValue::from_static(NAME));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .http2_keep_alive_interval(HTTP2_PING)
            .http2_keep_alive_timeout(HTTP2_PING)
            .build(connector.clone());
        Self {
            plain: Exchange::new(connector, MAX_IDLE_CONNECTIONS, POOL_IDLE),
            client,
            proxies,
            headers,
            authorize,
            redirects: Redirects::Follow,
            moved: Arc::default(),
        }
    }

    pub(super) fn with_redirects(self, redirects: Redirects) -> Self {
        Self { redirects, ..self }
    }

    /// Sends a message as JSON. The response may be JSON or an event stream.
    ///
    /// # Errors
    /// Fails if there is no response. A response with an error status is not an error.
    ///
    /// # Cancel safety
    /// Dropping the future, or later the reply, closes the stream of this request.
    ///
    /// The future is large. Box it if it is a part of a future that lives longer.
    pub async fn post(
        &self,
        address: &Address,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, HttpError> {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        self.send_on(Method::POST, address, headers, body).await
    }

    /// Requests an event stream.
    ///
    /// # Errors
    /// Fails if there is no response. A response with an error status is not an error.
    pub async fn events(
        &self,
        address: &Address,
        mut headers: HeaderMap,
    ) -> Result<Reply, HttpError> {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        self.send(Method::GET, address, headers, Bytes::new()).await
    }

    /// Closes the unused plain connections to a server.
    ///
    /// Call this when the body of a response turns out not to be for its request: the server has sent
    /// an extra response, and on the same connection each further request would get the response to the
    /// one before it.
    pub fn close_unused(&self, address: &Address) {
        self.plain.close_unused(self.moved.place_of(address).uri());
    }

    /// Sends any request. `headers` override those of the settings.
    ///
    /// # Errors
    /// Fails if there is no response. A response with an error status is not an error.
    pub async fn send(
        &self,
        method: Method,
        address: &Address,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, HttpError> {
        // Boxed, so that the future of a call stays small while the response is read.
        Box::pin(self.send_on(method, address, headers, body)).await
    }

    /// Sends a request to its current address, and again after redirects and challenges.
    async fn send_on(
        &self,
        method: Method,
        address: &Address,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, HttpError> {
        self.add_settings(&mut headers);
        let mut at = self.moved.place_of(address);
        let (mut redirects, mut refusals) = (0, 0);
        let mut is_for_good = true;
        loop {
            // Only a hook adds headers for a single attempt, and needs the headers that were sent.
            let mut hooked = None;
            if let Some(hook) = &self.authorize {
                let headers = hooked.insert(headers.clone());
                let request = RequestHead {
                    method: &method,
                    address: &at,
                    headers,
                    body: &body,
                    attempt: refusals,
                };
                within_time(&at, hook.authorize(request)).await?;
            }
            let sent = hooked.as_ref().unwrap_or(&headers);
            let reply = self.send_once(&method, &at, sent, body.clone()).await?;
            self.show_answer(&method, &reply);
            match reply.status() {
                status if status.is_redirection() && self.redirects == Redirects::HandBack => {
                    return Ok(reply);
                }
                StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT => {
                    if redirects == MAX_REDIRECTS {
                        let (address, limit) = (address.clone(), MAX_REDIRECTS);
                        return Err(HttpError::RedirectedTooOften { address, limit });
                    }
                    redirects += 1;
                    // Only this status also holds for later requests.
                    is_for_good &= reply.status() == StatusCode::PERMANENT_REDIRECT;
                    at = next(&at, reply.headers())?;
                    if is_for_good {
                        self.moved.remember(address, &at);
                    }
                }
                status if status.is_redirection() && status != StatusCode::NOT_MODIFIED => {
                    // Other redirects turn a POST into a GET, or leave that open.
                    return Err(elsewhere(&at, reply.headers()));
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if refusals < MAX_CHALLENGES => {
                    let decision = self.challenge(&method, &reply, sent, refusals).await?;
                    if decision == Decision::GiveUp {
                        return Ok(reply);
                    }
                    refusals += 1;
                }
                // The resource has moved again, or is back at its old address.
                StatusCode::NOT_FOUND | StatusCode::GONE if redirects == 0 => {
                    self.moved.forget(address);
                    return Ok(reply);
                }
                _ => return Ok(reply),
            }
        }
    }

    /// Adds the headers of the settings, unless the request has set them.
    fn add_settings(&self, headers: &mut HeaderMap) {
        for name in self.headers.keys() {
            if !headers.contains_key(name) {
                for value in self.headers.get_all(name) {
                    headers.append(name, value.clone());
                }
            }
        }
    }

    async fn send_once(
        &self,
        method: &Method,
        address: &Address,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Reply, HttpError> {
        let proxy = self.proxies.before(address.uri());
        if proxy.is_none() && !address.is_https() {
            let uri = address.uri();
            return match self.plain.send(method, uri, headers, body).await {
                Ok(response) => Ok(Reply::new(address.clone(), response)),
                Err(error) => Err(unsent_or_unanswered(address, error)),
            };
        }
        let mut headers = headers.clone();
        // A proxy in front of a plain server reads its credentials from the request itself.
        let credentials = proxy.as_ref().and_then(Intercept::basic_auth);
        if let Some(credentials) = credentials.filter(|_| !address.is_https()) {
            headers.insert(PROXY_AUTHORIZATION, credentials.clone());
        }
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = method.clone();
        *request.uri_mut() = address.uri().clone();
        *request.headers_mut() = headers;
        match self.client.request(request).await {
            Ok(response) => Ok(Reply::new(address.clone(), response.map(Body::Pooled))),
            Err(error) => Err(failed(address, error)),
        }
    }

    /// Passes a response to the hook.
    fn show_answer(&self, method: &Method, reply: &Reply) {
        if let Some(hook) = &self.authorize {
            hook.answered(ResponseHead {
                method,
                address: reply.address(),
                status: reply.status(),
                headers: reply.headers(),
            });
        }
    }

    /// Passes a refusal to the hook.
    async fn challenge(
        &self,
        method: &Method,
        reply: &Reply,
        sent: &HeaderMap,
        attempt: usize,
    ) -> Result<Decision, HttpError> {
        let Some(hook) = &self.authorize else {
            return Ok(Decision::GiveUp);
        };
        let refusal = Challenge {
            method,
            address: reply.address(),
            status: reply.status(),
            headers: reply.headers(),
            sent,
            attempt,
        };
        within_time(reply.address(), hook.challenged(refusal)).await
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The headers may contain secrets.
        f.debug_struct("Agent").finish_non_exhaustive()
    }
}

/// Limits the time of a hook, which may wait for others forever.
async fn within_time<T>(
    address: &Address,
    hook: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, HttpError> {
    let outcome = match tokio::time::timeout(MAX_HOOK_TIME, hook).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("the authorization did not finish within {MAX_HOOK_TIME:?}").into()),
    };
    outcome.map_err(|source| HttpError::Authorize {
        address: address.clone(),
        source,
    })
}

fn unsent_or_unanswered(address: &Address, error: SendError) -> HttpError {
    let address = address.clone();
    match error {
        SendError::Unsent(source) => HttpError::Unreachable { address, source },
        SendError::Sent(source) => no_answer(address, source),
    }
}

/// The error for a request that was sent and got no response.
fn no_answer(address: Address, source: BoxError) -> HttpError {
    let of_hyper = |error: &hyper::Error| error.is_parse() || error.is_parse_too_large();
    let is_unreadable = error_chain::find::<HeadError>(&*source).is_some()
        || error_chain::find(&*source).is_some_and(of_hyper);
    if is_unreadable {
        HttpError::Unreadable { address, source }
    } else {
        HttpError::Unanswered { address, source }
    }
}

fn failed(address: &Address, error: hyper_util::client::legacy::Error) -> HttpError {
    let address = address.clone();
    // A cancelled request was never sent: the connection had already been closed.
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref());
    let is_unsent = error.is_connect() || cause.is_some_and(hyper::Error::is_canceled);
    let source = error.into();
    if is_unsent {
        HttpError::Unreachable { address, source }
    } else {
        no_answer(address, source)
    }
}

/// The target of a redirect, if it is on the same server.
fn next(at: &Address, headers: &HeaderMap) -> Result<Address, HttpError> {
    location(at, headers)
        .filter(|next| next.is_same_origin(at))
        .ok_or_else(|| elsewhere(at, headers))
}

fn elsewhere(at: &Address, headers: &HeaderMap) -> HttpError {
    let to = location(at, headers).map_or_else(|| "nowhere".to_owned(), |to| to.to_string());
    HttpError::Redirected {
        address: at.clone(),
        to,
    }
}

fn location(at: &Address, headers: &HeaderMap) -> Option<Address> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    at.join(location).ok()
}
