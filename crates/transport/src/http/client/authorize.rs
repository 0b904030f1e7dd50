//! The hook for authorization: it adds credentials to requests, and gets the responses.

use std::fmt;

use futures_core::future::BoxFuture;
use http::header::{GetAll, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::Address;

/// The error type of hooks.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Adds credentials to requests, and gets their responses.
///
/// Set a hook for a server with its target. These steps happen for each request, whether it is a POST,
/// the GET of a stream or the DELETE of a session:
///
/// 1. [`authorize`](Self::authorize) adds headers. It is called each time that the request is sent,
///    also after a redirect and after a refusal, with the method and the address of that attempt: a
///    proof of possession that names them can be made anew every time.
/// 2. [`answered`](Self::answered) gets the status and headers of every response, also of successful
///    ones: a server may send the nonce for the next proof with any of them.
/// 3. If the status is 401 or 403, [`challenged`](Self::challenged) is called with the response and the
///    headers that were sent. It may take its time to fetch a token or to ask a user to sign in; then
///    it decides whether to send the request again. After [`MAX_CHALLENGES`](super::MAX_CHALLENGES)
///    refusals of one request, the refusal is returned.
///
/// Many requests use the same hook concurrently, and an expired token is refused for all of them.
/// [`Challenge::sent`] shows whether the refused request had the token that the hook holds now: if not,
/// another request has already brought a new token, and it is enough to retry.
///
/// While a hook of a connection runs, the deadlines of that connection's calls are paused. A hook may
/// take at most [`MAX_HOOK_TIME`](super::MAX_HOOK_TIME).
///
/// ```
/// use std::{future::ready, sync::Mutex};
/// use turnbuckle_transport::http::client::{
///     Authorize, BoxError, BoxFuture, Challenge, Decision, RequestHead, HeaderValue,
/// };
///
/// /// A token from somewhere, and another when it is refused.
/// struct Tokens { current: Mutex<HeaderValue>, fetch: fn() -> HeaderValue }
///
/// impl Authorize for Tokens {
///     fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
///         request.headers.insert("authorization", self.current.lock().unwrap().clone());
///         Box::pin(ready(Ok(())))
///     }
///
///     fn challenged<'a>(
///         &'a self,
///         refusal: Challenge<'a>,
///     ) -> BoxFuture<'a, Result<Decision, BoxError>> {
///         let mut current = self.current.lock().unwrap();
///         if refusal.sent.get("authorization") == Some(&*current) {
///             *current = (self.fetch)();
///         }
///         Box::pin(ready(Ok(Decision::Retry)))
///     }
/// }
/// ```
pub trait Authorize: Send + Sync {
    /// Adds headers to a request that is about to be sent.
    ///
    /// # Errors
    /// If this fails, the request is not sent, and fails with
    /// [`HttpError::Authorize`](super::HttpError::Authorize) with this error as its source.
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>>;

    /// Called for every response, whatever its status, before its body is read and before
    /// [`challenged`](Self::challenged). Every request waits for it, so it should only record facts.
    fn answered(&self, answer: ResponseHead<'_>) {
        let _ = answer;
    }

    /// Called when a request was refused with 401 or 403. The default returns the refusal to the
    /// caller.
    ///
    /// # Errors
    /// If this fails, the request fails with [`HttpError::Authorize`](super::HttpError::Authorize) with
    /// this error as its source.
    fn challenged<'a>(
        &'a self,
        refusal: Challenge<'a>,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        let _ = refusal;
        Box::pin(std::future::ready(Ok(Decision::GiveUp)))
    }
}

/// The decision about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send the request again, through [`Authorize::authorize`] again.
    Retry,
    /// Return the refusal.
    GiveUp,
}

/// A request that is about to be sent.
///
/// Its headers may contain secrets, so its `Debug` output does not show them.
#[non_exhaustive]
pub struct RequestHead<'a> {
    /// Its method.
    pub method: &'a Method,
    /// The address of the request. Displayed, it has neither query nor fragment, as `htu` of a DPoP
    /// proof requires.
    pub address: &'a Address,
    /// Its headers. The hook adds to them.
    pub headers: &'a mut HeaderMap,
    /// Its body, for hooks that sign it.
    pub body: &'a [u8],
    /// How often this request was already refused.
    pub attempt: usize,
}

impl RequestHead<'_> {
    /// Returns the same request with a shorter lifetime, for a hook that first calls another hook.
    pub fn reborrow(&mut self) -> RequestHead<'_> {
        RequestHead {
            method: self.method,
            address: self.address,
            headers: self.headers,
            body: self.body,
            attempt: self.attempt,
        }
    }
}

/// The head of a response: its status and headers.
///
/// Its headers may contain secrets, so its `Debug` output does not show them.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ResponseHead<'a> {
    /// The method of the request.
    pub method: &'a Method,
    /// The address of the request, whose server sent the response.
    pub address: &'a Address,
    /// The status of the response.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: &'a HeaderMap,
}

/// A refusal because authorization is missing: a response with status 401 or 403.
///
/// Its headers may contain secrets, so its `Debug` output does not show them.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Challenge<'a> {
    /// The method of the request.
    pub method: &'a Method,
    /// The address of the request, whose server refused it.
    pub address: &'a Address,
    /// 401 if the caller is unknown, 403 if the caller lacks permission. A 403 without a
    /// `WWW-Authenticate` header usually has another reason: an origin that is not allowed, or a
    /// firewall.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: &'a HeaderMap,
    /// The headers of the request, including credentials.
    pub sent: &'a HeaderMap,
    /// How often this request was already refused.
    pub attempt: usize,
}

impl<'a> Challenge<'a> {
    /// Creates the first refusal of a request without credentials. For tests of hooks.
    pub fn new(
        method: &'a Method,
        address: &'a Address,
        status: StatusCode,
        headers: &'a HeaderMap,
        sent: &'a HeaderMap,
    ) -> Self {
        Self {
            method,
            address,
            status,
            headers,
            sent,
            attempt: 0,
        }
    }

    /// Returns the `WWW-Authenticate` headers, in order.
    pub fn www_authenticate(&self) -> GetAll<'a, HeaderValue> {
        self.headers.get_all(WWW_AUTHENTICATE)
    }
}

impl<'a> RequestHead<'a> {
    /// Creates a request that is sent for the first time. For tests of hooks.
    pub fn new(method: &'a Method, address: &'a Address, headers: &'a mut HeaderMap) -> Self {
        Self {
            method,
            address,
            headers,
            body: &[],
            attempt: 0,
        }
    }
}

impl<'a> ResponseHead<'a> {
    /// Creates the head of a response. For tests of hooks.
    pub fn new(
        method: &'a Method,
        address: &'a Address,
        status: StatusCode,
        headers: &'a HeaderMap,
    ) -> Self {
        Self {
            method,
            address,
            status,
            headers,
        }
    }
}

impl fmt::Debug for RequestHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestHead")
            .field("method", &self.method)
            .field("address", &self.address)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ResponseHead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseHead")
            .field("method", &self.method)
            .field("address", &self.address)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Challenge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Challenge")
            .field("method", &self.method)
            .field("address", &self.address)
            .field("status", &self.status)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
