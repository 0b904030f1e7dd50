//! The hook for authorization: it puts credentials on requests, and is told how they are answered.

use std::fmt;

use futures_core::future::BoxFuture;
use http::header::{GetAll, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::Address;

/// Any error, for a hook's own.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Puts credentials on requests, and is told how they are answered.
///
/// Set one for a server with its target. What happens around each request, whether a POST, the GET
/// of a stream or the DELETE of a session:
///
/// 1. [`authorize`](Self::authorize) is asked for its headers. It is asked again each time that the
///    request goes out, after a redirect and after a refusal too, with the method and the address
///    of that very attempt: a proof of possession that names them can be made again every time.
/// 2. [`answered`](Self::answered) is shown the status and headers of every answer, good ones too:
///    a server may send the nonce for the next proof with any of them.
/// 3. If the answer is 401 or 403, [`challenged`](Self::challenged) is told, with what the server
///    said and what it was sent. It may take its time, to fetch a token or to send a user to
///    sign in; then it says whether to send the request again. That goes on for at most
///    [`MAX_CHALLENGES`](super::MAX_CHALLENGES) refusals of one request, then the refusal is returned.
///
/// Many requests go through one hook at the same time, and a token that expires is refused to all
/// of them. [`Challenge::sent`] tells a hook whether the refused request had the token that it
/// holds now: if not, another request has brought a new one already, and there is only to retry.
///
/// While a hook of a connection runs, the deadlines of that connection's calls are paused. A hook
/// may take at most [`MAX_HOOK_TIME`](super::MAX_HOOK_TIME).
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
    /// Adds to the headers of a request that is about to be sent.
    ///
    /// # Errors
    /// The request is not sent then, and ends with
    /// [`HttpError::Authorize`](super::HttpError::Authorize), whose source this error is.
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>>;

    /// An answer has come, of any status; its body is still to be read. This is asked before
    /// [`challenged`](Self::challenged), and on the way of every request: only to take note.
    fn answered(&self, answer: ResponseHead<'_>) {
        let _ = answer;
    }

    /// A request was refused with 401 or 403. The default returns the refusal to the caller.
    ///
    /// # Errors
    /// The request ends with [`HttpError::Authorize`](super::HttpError::Authorize), whose source
    /// this error is.
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
    /// Leave it refused.
    GiveUp,
}

/// A request that is about to be sent.
///
/// Its headers may hold secrets, and are not shown.
#[non_exhaustive]
pub struct RequestHead<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Where it goes. As text it has neither query nor fragment, as `htu` of a DPoP proof wants it.
    pub address: &'a Address,
    /// Its headers, to be added to.
    pub headers: &'a mut HeaderMap,
    /// Its body, for hooks that sign it.
    pub body: &'a [u8],
    /// How often this request was refused before.
    pub attempt: usize,
}

impl RequestHead<'_> {
    /// The same request, for a hook that has another one asked first.
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

/// The head of an answer: its status and headers.
///
/// Its headers may hold secrets, and are not shown.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ResponseHead<'a> {
    /// The method of the request.
    pub method: &'a Method,
    /// Where the request went, and who answered.
    pub address: &'a Address,
    /// The status of the answer.
    pub status: StatusCode,
    /// The headers of the answer.
    pub headers: &'a HeaderMap,
}

/// A refusal because authorization is missing: an answer with status 401 or 403.
///
/// Its headers may hold secrets, and are not shown.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Challenge<'a> {
    /// The method of the request.
    pub method: &'a Method,
    /// Where the request went, and who refused it.
    pub address: &'a Address,
    /// 401 if the caller is unknown, 403 if the caller lacks permission. A 403 without a
    /// `WWW-Authenticate` header mostly means something else: an origin that is not allowed, a
    /// firewall.
    pub status: StatusCode,
    /// The headers of the answer.
    pub headers: &'a HeaderMap,
    /// The headers that the request was sent with, credentials included.
    pub sent: &'a HeaderMap,
    /// How often this request was refused before.
    pub attempt: usize,
}

impl<'a> Challenge<'a> {
    /// The refusal of a request without credentials, for the first time. For tests of hooks.
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

    /// The `WWW-Authenticate` headers, in their order.
    pub fn www_authenticate(&self) -> GetAll<'a, HeaderValue> {
        self.headers.get_all(WWW_AUTHENTICATE)
    }
}

impl<'a> RequestHead<'a> {
    /// A request that goes out for the first time. For tests of hooks.
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
    /// An answer. For tests of hooks.
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
