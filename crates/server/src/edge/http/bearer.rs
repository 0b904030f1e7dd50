//! A simple check of bearer tokens: one async function from a token to a caller.

use std::{future::Future, time::Duration};

use futures_core::future::BoxFuture;
use http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts};

use super::protect::{AuthDecision, Authorized, HttpRefusal, Protect};
use crate::Caller;

/// How long a check may take. A database or an authorization server that takes longer is not
/// working.
const CHECK_WITHIN: Duration = Duration::from_secs(10);

/// The maximum length of a token, in bytes. Signed tokens with many claims have a few thousand;
/// longer ones are rejected unchecked.
const MAX_TOKEN_BYTES: usize = 16 * 1024;

/// Admits callers whose bearer token your function accepts.
///
/// The function gets the token and returns the caller as an `Option`, or as a `Result` whose error
/// is a [refusal](HttpRefusal). Requests without a token, or with a token that the function does
/// not accept, get 401 and a challenge. Compare secrets in constant time, or look them up by their
/// hash.
///
/// For tokens of an authorization server, with its metadata and scopes, use the guard of
/// `turnbuckle::auth`.
///
/// ```
/// use turnbuckle_server::{Bearer, Caller, Http, Server};
///
/// async fn who(token: String) -> Option<Caller> {
///     // Ask your database here.
///     (token == "let-me-in").then(|| Caller::new("ada").with_scopes(["notes"]))
/// }
///
/// let http = Http::bind("127.0.0.1:8080").protect(Bearer::new(who));
/// ```
pub struct Bearer(Box<Check>);

/// A function that returns the caller of a token, no caller, or a refusal.
type Check = dyn Fn(String) -> Checking + Send + Sync;
type Checking = BoxFuture<'static, Result<Option<Caller>, HttpRefusal>>;

impl Bearer {
    /// Checks tokens with this function. A check that takes more than 10 seconds is aborted, and
    /// the client gets 503. Results are not cached.
    pub fn new<F, Fut, R>(check: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = R> + Send + 'static,
        R: IntoTokenResult,
    {
        Self(Box::new(move |token| {
            let checking = check(token);
            Box::pin(async move { checking.await.into_token_result() })
        }))
    }
}

/// The types that a check of a token may return: `Option<Caller>`, or a `Result` with a caller and
/// a refusal.
pub trait IntoTokenResult {
    /// Converts the value into a caller, no caller, or a refusal.
    fn into_token_result(self) -> Result<Option<Caller>, HttpRefusal>;
}

impl IntoTokenResult for Option<Caller> {
    fn into_token_result(self) -> Result<Option<Caller>, HttpRefusal> {
        Ok(self)
    }
}

impl IntoTokenResult for Result<Caller, HttpRefusal> {
    fn into_token_result(self) -> Result<Option<Caller>, HttpRefusal> {
        self.map(Some)
    }
}

impl IntoTokenResult for Result<Option<Caller>, HttpRefusal> {
    fn into_token_result(self) -> Result<Option<Caller>, HttpRefusal> {
        self
    }
}

impl Protect for Bearer {
    fn admit(&self, request: &Parts) -> AuthDecision {
        let Some(token) = token(&request.headers) else {
            let refusal = unauthorized("send a token: `Authorization: Bearer …`", "Bearer");
            return AuthDecision::Now(Err(refusal));
        };
        let checking = (self.0)(token.to_owned());
        AuthDecision::Later(Box::pin(async move {
            match tokio::time::timeout(CHECK_WITHIN, checking).await {
                Ok(Ok(Some(caller))) => Ok(Authorized::new(caller)),
                Ok(Ok(None)) => Err(unauthorized(
                    "the token is not known",
                    r#"Bearer error="invalid_token""#,
                )),
                Ok(Err(refusal)) => Err(refusal),
                Err(_) => Err(HttpRefusal::new(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the token could not be checked in time: try again",
                )),
            }
        }))
    }
}

fn unauthorized(message: &str, challenge: &'static str) -> HttpRefusal {
    let challenge = HeaderValue::from_static(challenge);
    HttpRefusal::new(StatusCode::UNAUTHORIZED, message)
        .with_header(header::WWW_AUTHENTICATE, challenge)
}

/// Returns the token of the only `Authorization` header, if its scheme is `Bearer`.
fn token(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let only = all.next().filter(|_| all.next().is_none())?;
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    let is_bearer = scheme.eq_ignore_ascii_case("bearer");
    (is_bearer && !token.is_empty() && token.len() <= MAX_TOKEN_BYTES).then_some(token)
}
