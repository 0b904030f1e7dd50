//! Reasons for refusing a request, and the responses.

use http::{HeaderName, HeaderValue, StatusCode, header};
use turnbuckle_server::HttpRefusal;

use super::{
    challenge::{Challenge, Scheme},
    verify::VerifyError,
};

/// The header with a fresh nonce (RFC 9449, 8).
pub(super) const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// Seconds after which a client may retry if tokens cannot be verified at the moment.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("5");

/// Seconds after which a client that sent too many unknown tokens may retry.
const RETRY_LATE: HeaderValue = HeaderValue::from_static("60");

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Denied {
    /// The request has no token.
    NoToken,
    /// The request presents its token in a malformed way.
    Malformed(&'static str),
    /// The token is not valid for this server.
    Token(String),
    /// The DPoP proof is not valid.
    Proof(String),
    /// The proof has no nonce of this server, or an old one.
    Nonce(String),
    /// The token lacks required scopes.
    Scopes(Vec<String>),
    /// The issuer cannot be reached at the moment.
    Unavailable(String),
    /// The client has sent too many unknown tokens.
    TooMany(String),
}

impl From<VerifyError> for Denied {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Invalid(reason) => Self::Token(reason),
            VerifyError::Unavailable(reason) => Self::Unavailable(reason),
        }
    }
}

/// The parts that all challenges have in common.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub(super) metadata_url: String,
    /// The scopes that every request requires.
    pub(super) scopes: Vec<String>,
    /// The accepted schemes, the better one first.
    pub(super) schemes: Vec<Scheme>,
    /// The algorithms of proofs, in the format of `algs`.
    pub(super) proof_algorithms: String,
}

impl Terms {
    /// Makes the response to a refused request.
    pub(super) fn refuse(&self, denied: &Denied) -> HttpRefusal {
        match denied {
            Denied::NoToken => self.challenge(
                StatusCode::UNAUTHORIZED,
                None,
                "this server needs an access token: send it as `Authorization: Bearer`",
                &self.scopes,
            ),
            Denied::Malformed(reason) => self.challenge(
                StatusCode::BAD_REQUEST,
                Some("invalid_request"),
                reason,
                &[],
            ),
            Denied::Token(reason) => self.challenge(
                StatusCode::UNAUTHORIZED,
                Some("invalid_token"),
                reason,
                &self.scopes,
            ),
            Denied::Proof(reason) => self.challenge_proof("invalid_dpop_proof", reason),
            Denied::Nonce(nonce) => {
                let reason = "the proof needs the nonce of this response";
                let refusal = self.challenge_proof("use_dpop_nonce", reason);
                match HeaderValue::from_str(nonce) {
                    Ok(nonce) => refusal.with_header(NONCE, nonce),
                    Err(_) => refusal,
                }
            }
            Denied::Scopes(scopes) => {
                let reason = format!(
                    "the token lacks a scope; the request needs `{}`",
                    scopes.join(" ")
                );
                self.challenge(
                    StatusCode::FORBIDDEN,
                    Some("insufficient_scope"),
                    &reason,
                    scopes,
                )
            }
            Denied::TooMany(reason) => HttpRefusal::new(StatusCode::TOO_MANY_REQUESTS, reason)
                .with_header(header::RETRY_AFTER, RETRY_LATE),
            Denied::Unavailable(reason) => {
                tracing::warn!(reason, "tokens cannot be verified");
                let message = "tokens cannot be verified at the moment: try again";
                HttpRefusal::new(StatusCode::SERVICE_UNAVAILABLE, message)
                    .with_header(header::RETRY_AFTER, RETRY_AFTER)
            }
        }
    }

    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&str>,
        reason: &str,
        scopes: &[String],
    ) -> HttpRefusal {
        let refusal = HttpRefusal::new(status, reason);
        self.schemes.iter().fold(refusal, |refusal, scheme| {
            let challenge = self.write(*scheme, error, reason, scopes);
            refusal.with_header(header::WWW_AUTHENTICATE, challenge.to_header())
        })
    }

    /// RFC 9449, 7.1: an error of a proof is reported in a challenge with the scheme DPoP.
    fn challenge_proof(&self, error: &str, reason: &str) -> HttpRefusal {
        let challenge = self.write(Scheme::Dpop, Some(error), reason, &self.scopes);
        HttpRefusal::new(StatusCode::UNAUTHORIZED, reason)
            .with_header(header::WWW_AUTHENTICATE, challenge.to_header())
    }

    fn write(
        &self,
        scheme: Scheme,
        error: Option<&str>,
        reason: &str,
        scopes: &[String],
    ) -> Challenge {
        let mut challenge = Challenge::new(scheme);
        if let Some(error) = error {
            // RFC 6750, 3.1: the response to a request without a token has no error code.
            challenge = challenge
                .with("error", error)
                .with("error_description", reason);
        }
        if !scopes.is_empty() {
            challenge = challenge.with("scope", &scopes.join(" "));
        }
        challenge = challenge.with("resource_metadata", &self.metadata_url);
        match scheme {
            Scheme::Bearer => challenge,
            Scheme::Dpop => challenge.with("algs", &self.proof_algorithms),
        }
    }
}
