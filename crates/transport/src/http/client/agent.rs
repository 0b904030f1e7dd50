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

/// 5: a load balancer, a canonical path and a version make three.
const MAX_REDIRECTS: usize = 5;

/// 5 refusals of one request: a token is fetched, its scope widened, each of them once more with the
/// nonce that the server wants in proofs, and once for a token that expired meanwhile.
pub const MAX_CHALLENGES: usize = 5;

/// 15 min for a hook to come back: a user signs in, with a second factor that has to be found first.
pub const MAX_HOOK_TIME: Duration = Duration::from_mins(15);

/// 4 s without a request. Node and uvicorn close what was not used for 5 s, and a request that meets
/// the closing on its way is lost; one connection more costs some milliseconds.
const POOL_IDLE: Duration = Duration::from_secs(4);

/// 20 s without a frame of HTTP/2, and as long for the answer to a ping: a connection whose other end
/// is gone without a word is noticed, and calls do not pile up on it.
const HTTP2_PING: Duration = Duration::from_secs(20);

/// 32 unused connections to one server; HTTP/2 needs one.
const MAX_IDLE_CONNECTIONS: usize = 32;

const NAME: &str = concat!("turnbuckle/", env!("CARGO_PKG_VERSION"));

/// Sends HTTP requests, and reuses connections. Clones share the connections.
#[derive(Clone)]
pub struct Agent {
    /// For plain connections straight to a server.
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
    /// Redirects are returned like other answers.
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

    /// Sends a message as JSON. Its answer may be JSON or a stream of events.
    ///
    /// # Errors
    /// If there is no answer. One with an error status is an answer.
    ///
    /// # Cancel safety
    /// Dropping the future, or later the reply, closes the stream of this request.
    ///
    /// The future is large. Box it where it is a part of one that lives longer.
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

    /// Asks for a stream of events.
    ///
    /// # Errors
    /// If there is no answer. One with an error status is an answer.
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
    /// Call this when the body of an answer turns out to answer something else: the server has sent one answer too
    /// many, and on the same connection each further request would get the answer of the one before it.
    pub fn close_unused(&self, address: &Address) {
        self.plain.close_unused(self.moved.place_of(address).uri());
    }

    /// Sends any request. The headers given come before those of the settings.
    ///
    /// # Errors
    /// If there is no answer. One with an error status is an answer.
    pub async fn send(
        &self,
        method: Method,
        address: &Address,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Reply, HttpError> {
        // The future of a call would otherwise keep room for all of it while the answer is read.
        Box::pin(self.send_on(method, address, headers, body)).await
    }

    /// Sends a request to where it belongs now, and again where it is redirected or challenged.
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
            // Only a hook adds headers of one attempt, and asks what was sent.
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
                    // Only this one says that it holds for the requests to come.
                    is_for_good &= reply.status() == StatusCode::PERMANENT_REDIRECT;
                    at = next(&at, reply.headers())?;
                    if is_for_good {
                        self.moved.remember(address, &at);
                    }
                }
                status if status.is_redirection() && status != StatusCode::NOT_MODIFIED => {
                    // Others turn a POST into a GET, or leave it to be guessed.
                    return Err(elsewhere(&at, reply.headers()));
                }
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN if refusals < MAX_CHALLENGES => {
                    let decision = self.challenge(&method, &reply, sent, refusals).await?;
                    if decision == Decision::GiveUp {
                        return Ok(reply);
                    }
                    refusals += 1;
                }
                // What was there has moved on, or is back where it was.
                StatusCode::NOT_FOUND | StatusCode::GONE if redirects == 0 => {
                    self.moved.forget(address);
                    return Ok(reply);
                }
                _ => return Ok(reply),
            }
        }
    }

    /// Adds the headers of the settings. Those of the request come first.
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
        // A proxy in front of a plain server reads its credentials off the request itself.
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

    /// Shows an answer to the hook.
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

    /// Tells the hook of a refusal.
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
        // Headers may be secrets.
        f.debug_struct("Agent").finish_non_exhaustive()
    }
}

/// Waits for the hook, which talks to others and may never come back.
async fn within_time<T>(
    address: &Address,
    hook: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, HttpError> {
    let outcome = match tokio::time::timeout(MAX_HOOK_TIME, hook).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("it did not end within {MAX_HOOK_TIME:?}").into()),
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

/// The error of a request that was sent and has no answer.
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
    // What was cancelled was not begun: the connection was closed before.
    let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref());
    let is_unsent = error.is_connect() || cause.is_some_and(hyper::Error::is_canceled);
    let source = error.into();
    if is_unsent {
        HttpError::Unreachable { address, source }
    } else {
        no_answer(address, source)
    }
}

/// Where a redirect leads, if it stays with the same server.
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
