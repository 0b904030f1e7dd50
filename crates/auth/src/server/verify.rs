//! Verifies tokens with a function of the application.

use std::{fmt, future::Future, pin::Pin};

use serde_json::{Map, Value};

/// The claims of a token by their names, as JSON.
pub type Claims = Map<String, Value>;

/// Verifies tokens in a custom way, for example by looking them up in a database. Set it with
/// [`Issuer::verify`](super::Issuer::verify). Any function from a token to a future of claims
/// implements it.
///
/// The returned claims are checked by the same rules as those of any other token: `aud` must name
/// this server, `exp` must not have passed, and `sub` or `client_id` must name the caller. A valid
/// token is accepted for 30 seconds before it is verified again, unless
/// [`Issuer::cache_for`](super::Issuer::cache_for) is set.
///
/// ```
/// use serde_json::json;
/// use turnbuckle_auth::server::{Claims, Guard, Issuer, VerifyError};
///
/// async fn look_up(token: String) -> Result<Claims, VerifyError> {
///     if token != "sesame" {
///         return Err(VerifyError::Invalid("there is no such token".into()));
///     }
///     let claims = json!({ "sub": "ali", "aud": "https://mcp.example.com/mcp", "scope": "open" });
///     Ok(claims.as_object().cloned().unwrap_or_default())
/// }
///
/// let guard = Guard::new("https://mcp.example.com/mcp")
///     .issuer(Issuer::new("https://login.example.com").verify(look_up));
/// ```
pub trait Verify: Send + Sync + 'static {
    /// Returns the claims of a token, if it is valid. The function should have its own deadline;
    /// the guard stops waiting after 30 seconds, and tells the client to try again.
    ///
    /// # Errors
    /// [`VerifyError::Invalid`] for an invalid token, and [`VerifyError::Unavailable`] if the token
    /// cannot be checked now.
    fn verify(&self, token: String) -> Verifying;
}

/// The future that [`Verify::verify`] returns.
pub type Verifying = Pin<Box<dyn Future<Output = Result<Claims, VerifyError>> + Send>>;

impl<F, Fut> Verify for F
where
    F: Fn(String) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Claims, VerifyError>> + Send + 'static,
{
    fn verify(&self, token: String) -> Verifying {
        Box::pin(self(token))
    }
}

/// Why a [`Verify`] refused a token. The difference matters: clients get a new token after
/// `Invalid`, and retry with the same token after `Unavailable`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerifyError {
    /// The token is not valid. The client gets 401 with this reason, so it must not contain
    /// secrets.
    Invalid(String),
    /// The token cannot be checked at the moment. The client is told to try again; the reason is
    /// only logged.
    Unavailable(String),
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(reason) => write!(f, "the token is not valid: {reason}"),
            Self::Unavailable(reason) => write!(f, "the token cannot be verified: {reason}"),
        }
    }
}

impl std::error::Error for VerifyError {}
