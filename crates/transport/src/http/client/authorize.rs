//! The hook for authorization: what puts credentials on requests, and hears when they are refused.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use http::{HeaderMap, HeaderValue, Method, StatusCode};

use super::Address;

/// Any error, for a hook's own.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A request that is about to be sent.
///
/// Its headers may hold secrets, and are not shown.
#[non_exhaustive]
pub struct Departing<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Where it goes.
    pub address: &'a Address,
    /// Its headers, to be added to.
    pub headers: &'a mut HeaderMap,
}

/// A refusal for want of authorization.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Challenge {
    /// 401 if nobody is known, 403 if somebody may not.
    pub status: StatusCode,
    /// What the server says is wanted: its `WWW-Authenticate` headers.
    pub www_authenticate: Vec<HeaderValue>,
    /// Who refused.
    pub address: Address,
    /// How often this request was refused before.
    pub attempt: usize,
}

/// What to do about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Send the request again, through [`Authorize::authorize`] again.
    Retry,
    /// Leave it refused.
    GiveUp,
}

/// Puts credentials on requests, and hears when they are refused.
///
/// Set one for a server with its target. It is asked before every request, also those that are
/// sent again.
pub trait Authorize: Send + Sync {
    /// Adds to the headers of a request.
    ///
    /// # Errors
    /// The request is not sent then.
    fn authorize<'a>(&'a self, request: Departing<'a>) -> BoxFuture<'a, Result<(), BoxError>>;

    /// A request was refused with 401 or 403. A server that refuses again and again is given up
    /// after some times.
    ///
    /// # Errors
    /// The request ends with this error.
    fn challenged<'a>(
        &'a self,
        challenge: &'a Challenge,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        let _ = challenge;
        Box::pin(std::future::ready(Ok(Decision::GiveUp)))
    }
}

impl fmt::Debug for Departing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Departing")
            .field("method", &self.method)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
