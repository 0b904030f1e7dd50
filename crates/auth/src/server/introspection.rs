//! Introspection: asks the issuer about a token (RFC 7662).

use std::{fmt, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use tokio::sync::Semaphore;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::Address;

use super::{
    discovery,
    fetch::IssuerFetcher,
    verify::{Claims, VerifyError},
};

/// The most concurrent requests to one issuer; further ones wait. Each unknown token costs a
/// request, and anyone can send unknown tokens.
const MAX_QUESTIONS: usize = 32;

/// 10 s to wait for a free request, which is how long one request may take.
const TURN_DEADLINE: Duration = Duration::from_secs(10);

/// Asks an issuer about tokens.
pub(super) struct Introspection {
    client_id: String,
    secret: String,
    given: Option<Address>,
    found: Mutex<Option<Address>>,
    questions: Semaphore,
}

impl Introspection {
    pub(super) fn new(client_id: String, secret: String, given: Option<Address>) -> Self {
        Self {
            client_id,
            secret,
            given,
            found: Mutex::default(),
            questions: Semaphore::new(MAX_QUESTIONS),
        }
    }

    /// Returns the claims of a token, if it is active.
    pub(super) async fn ask(
        &self,
        fetcher: &IssuerFetcher,
        issuer: &str,
        token: &str,
    ) -> Result<Claims, VerifyError> {
        let turn = tokio::time::timeout(TURN_DEADLINE, self.questions.acquire()).await;
        let _turn = turn.map_err(|_| {
            let reason =
                format!("{MAX_QUESTIONS} introspection requests to issuer `{issuer}` are open");
            VerifyError::Unavailable(reason)
        })?;
        let address = self.address(fetcher, issuer).await?;
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .append_pair("token_type_hint", "access_token")
            .finish();
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, self.credentials()?);
        let answer = fetcher.form(&address, headers, form).await;
        let answer = answer.map_err(|unread| VerifyError::Unavailable(unread.reason))?;
        match answer {
            Value::Object(claims) if claims.get("active") == Some(&Value::Bool(true)) => {
                only_access(claims)
            }
            // RFC 7662, 2.2: the response tells nothing more about an inactive token.
            Value::Object(_) => Err(VerifyError::Invalid(
                "the token is unknown, has expired or was revoked".into(),
            )),
            _ => Err(VerifyError::Unavailable(format!(
                "{address}: the answer is not a JSON object"
            ))),
        }
    }

    async fn address(&self, fetcher: &IssuerFetcher, issuer: &str) -> Result<Address, VerifyError> {
        if let Some(address) = &self.given {
            return Ok(address.clone());
        }
        let known = self.found.lock().clone();
        if let Some(address) = known {
            return Ok(address);
        }
        let address = discovery::endpoint(fetcher, issuer, "introspection_endpoint").await?;
        Ok(self.found.lock().insert(address).clone())
    }

    /// RFC 6749, 2.3.1: id and secret are form-encoded before they are encoded as Basic.
    fn credentials(&self) -> Result<HeaderValue, VerifyError> {
        let encode =
            |text: &str| -> String { form_urlencoded::byte_serialize(text.as_bytes()).collect() };
        let pair = format!("{}:{}", encode(&self.client_id), encode(&self.secret));
        let text = format!("Basic {}", STANDARD.encode(pair));
        let mut value = HeaderValue::from_str(&text)
            .map_err(|error| VerifyError::Unavailable(error.to_string()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

/// Refuses refresh tokens. Issuers report them as active too, despite the hint (RFC 7662, 4), and
/// mark their type in different claims.
fn only_access(claims: Claims) -> Result<Claims, VerifyError> {
    let is_refresh = ["token_use", "token_type", "typ"].iter().any(|name| {
        let kind = claims.get(*name).and_then(Value::as_str);
        kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("refresh"))
    });
    if is_refresh {
        let reason = "the token is a refresh token: send the access token";
        return Err(VerifyError::Invalid(reason.into()));
    }
    Ok(claims)
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refresh_token_opens_nothing() {
        let read = |json: Value| only_access(json.as_object().cloned().unwrap_or_default());
        for bad in [
            json!({ "active": true, "token_use": "refresh_token" }),
            json!({ "active": true, "token_type": "refresh_token" }),
            json!({ "active": true, "typ": "Refresh" }),
        ] {
            let error = read(bad.clone()).unwrap_err();
            assert!(error.to_string().contains("refresh token"), "{bad}");
        }
        for good in [
            json!({ "active": true }),
            json!({ "active": true, "token_use": "access_token", "token_type": "Bearer" }),
            json!({ "active": true, "typ": "Bearer", "token_type": "DPoP" }),
        ] {
            read(good).unwrap();
        }
    }
}
