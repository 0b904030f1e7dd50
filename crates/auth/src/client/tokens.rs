//! Tokens, with the data that is needed to use, renew and revoke them.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::AUTHORIZATION;
use serde::Deserialize;
use serde_json::json;
use turnbuckle_transport::http::client::HeaderValue;

use super::clock::Timestamp;
use super::dpop::ProofKey;
use super::token_answer::TokenAnswer;
use super::{AuthError, Problem, Scopes, Step};
use crate::Secret;

/// Tokens are renewed 30 s before they expire, because requests take time and clocks differ.
const EARLY: Duration = Duration::from_secs(30);

/// The result of one authorization.
#[derive(Clone)]
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) expires: Option<Timestamp>,
    /// The scopes that were requested, by this authorization and earlier ones.
    pub(crate) requested: Scopes,
    pub(crate) issuer: String,
    pub(crate) resource: Option<String>,
    /// The client that they were issued to.
    pub(crate) client_id: Option<String>,
    /// The key that they are bound to, if any.
    pub(crate) key: Option<Arc<ProofKey>>,
}

/// The request that tokens were issued for.
pub(crate) struct Request<'a> {
    pub(crate) issuer: &'a str,
    pub(crate) resource: Option<&'a str>,
    pub(crate) client_id: Option<&'a str>,
    pub(crate) requested: &'a Scopes,
    /// The key that the request's proof was made with.
    pub(crate) key: Option<&'a Arc<ProofKey>>,
}

/// Tokens in the form in which they are stored.
#[derive(Deserialize)]
struct Kept {
    access_token: Secret,
    refresh_token: Option<Secret>,
    expires_at: Option<u64>,
    requested: Scopes,
    issuer: String,
    resource: Option<String>,
    client_id: Option<String>,
    key: Option<Secret>,
}

/// The state of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenState {
    /// The tokens were just granted. If the server refuses them, it would refuse other new ones too.
    New,
    /// The tokens were just renewed. If the server refuses them, new ones may have to be granted.
    Renewed,
    /// The server has accepted them, or another process has stored them.
    Tried,
}

impl Tokens {
    /// Reads the tokens of a token response.
    ///
    /// # Errors
    /// [`AuthError`] if tokens of this type are not supported.
    pub(crate) fn new(
        answer: TokenAnswer,
        request: &Request<'_>,
        now: Timestamp,
    ) -> Result<Self, AuthError> {
        let key = match &*answer.token_type.to_ascii_lowercase() {
            // RFC 6749 requires a type, but some servers leave it out.
            "bearer" | "" => None,
            "dpop" if request.key.is_some() => request.key.cloned(),
            _ => {
                let kind = super::error::shown(&answer.token_type);
                let problem =
                    Problem::Unsupported(format!("the token type `{kind}` is not supported"));
                return Err(AuthError::new(Step::Token, problem).rule("RFC 6749, 7.1"));
            }
        };
        if let Some(scope) = &answer.scope {
            let granted = Scopes::parse(scope);
            if !granted.contains_all(request.requested) {
                tracing::info!(%granted, requested = %request.requested, "fewer scopes were granted");
            }
        }
        Ok(Self {
            access: answer.access_token,
            refresh: answer.refresh_token,
            expires: answer.expires_in.map(|life| now.after(life)),
            requested: request.requested.clone(),
            issuer: request.issuer.to_owned(),
            resource: request.resource.map(str::to_owned),
            client_id: request.client_id.map(str::to_owned),
            key,
        })
    }

    /// Whether the access token should no longer be used.
    pub(crate) fn is_expired(&self, now: Timestamp) -> bool {
        self.expires
            .is_some_and(|expires| expires <= now.after(EARLY))
    }

    /// The `Authorization` header for the access token.
    ///
    /// # Errors
    /// [`AuthError`] if the token contains characters that are not allowed in a header.
    pub(crate) fn header(&self) -> Result<HeaderValue, AuthError> {
        let scheme = if self.key.is_some() { "DPoP" } else { "Bearer" };
        let text = zeroize::Zeroizing::new(format!("{scheme} {}", self.access.expose()));
        let mut value = HeaderValue::try_from(text.as_str()).map_err(|_| {
            let problem = Problem::Malformed(
                "the token has characters that a header cannot contain".to_owned(),
            );
            AuthError::new(Step::Use, problem).rule("RFC 6750, 2.1")
        })?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// Whether a request was sent with this token.
    pub(crate) fn were_sent(&self, sent: &http::HeaderMap) -> bool {
        let Some(sent) = sent.get(AUTHORIZATION) else {
            return false;
        };
        self.header().is_ok_and(|own| own == sent)
    }

    /// The tokens in the form in which they are stored.
    pub(crate) fn to_secret(&self) -> Secret {
        let text = json!({
            "access_token": self.access.expose(),
            "refresh_token": self.refresh.as_ref().map(Secret::expose),
            "expires_at": self.expires.map(|expires| expires.0),
            "requested": self.requested,
            "issuer": self.issuer,
            "resource": self.resource,
            "client_id": self.client_id,
            "key": self.key.as_ref().map(|key| key.kept().expose()),
        });
        Secret::new(text.to_string())
    }

    /// Parses stored tokens; `None` if they cannot be parsed.
    pub(crate) fn from_secret(text: &Secret) -> Option<Self> {
        let kept: Kept = serde_json::from_str(text.expose()).ok()?;
        let key = match &kept.key {
            Some(key) => Some(Arc::new(ProofKey::load(key)?)),
            None => None,
        };
        Some(Self {
            access: kept.access_token,
            refresh: kept.refresh_token,
            expires: kept.expires_at.map(Timestamp),
            requested: kept.requested,
            issuer: kept.issuer,
            resource: kept.resource,
            client_id: kept.client_id,
            key,
        })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("issuer", &self.issuer)
            .field("resource", &self.resource)
            .field("requested", &self.requested)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(json: &str, key: Option<&Arc<ProofKey>>) -> Result<Tokens, AuthError> {
        let request = Request {
            issuer: "https://as.example",
            resource: Some("https://host"),
            client_id: Some("me"),
            requested: &Scopes::parse("a b"),
            key,
        };
        Tokens::new(
            serde_json::from_str(json).unwrap(),
            &request,
            Timestamp(100),
        )
    }

    #[test]
    fn tokens_survive_being_kept() {
        let key = Arc::new(ProofKey::generate().unwrap());
        let json =
            r#"{"access_token":"t0ken","token_type":"dpop","expires_in":60,"refresh_token":"r"}"#;
        let tokens = tokens(json, Some(&key)).unwrap();
        let again = Tokens::from_secret(&tokens.to_secret()).unwrap();
        assert_eq!(again.header().unwrap(), "DPoP t0ken");
        assert_eq!(again.refresh, Some(Secret::new("r")));
        assert_eq!(again.requested.to_string(), "a b");
        assert_eq!(again.key.unwrap().thumbprint(), key.thumbprint());
        assert_eq!(again.expires, tokens.expires);
        assert!(!format!("{tokens:?}").contains("t0ken"));
        assert!(tokens.is_expired(Timestamp(131)) && !tokens.is_expired(Timestamp(129)));
    }

    #[test]
    fn a_token_is_used_as_its_type_says() {
        let key = Arc::new(ProofKey::generate().unwrap());
        let bearer = r#"{"access_token":"t","token_type":"Bearer"}"#;
        assert_eq!(
            tokens(bearer, Some(&key)).unwrap().header().unwrap(),
            "Bearer t"
        );
        let bound = r#"{"access_token":"t","token_type":"DPoP"}"#;
        assert!(tokens(bound, None).is_err());
        let odd = r#"{"access_token":"t","token_type":"N_A"}"#;
        assert!(tokens(odd, None).is_err());
        let broken = r#"{"access_token":"t\n","token_type":"Bearer"}"#;
        let error = tokens(broken, None).unwrap().header().unwrap_err();
        assert_eq!(error.step(), Step::Use);
    }
}
