//! Introspection: the issuer says what a token is (RFC 7662).

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use tokio::sync::Semaphore;
use turnbuckle_transport::http::client::Address;

use super::{
    discovery,
    fetch::Fetcher,
    verify::{Claims, VerifyError},
};

/// Questions to one issuer at a time. Anybody can send tokens that nobody knows, and each is a
/// question; those beyond wait, for as long as a question may take.
const MAX_QUESTIONS: usize = 32;

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

    /// The claims of a token, if it is active.
    pub(super) async fn ask(
        &self,
        fetcher: &Fetcher,
        issuer: &str,
        token: &str,
    ) -> Result<Claims, VerifyError> {
        let _turn = self.questions.acquire().await;
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
            Value::Object(claims) if claims.get("active") == Some(&Value::Bool(true)) => Ok(claims),
            // RFC 7662, 2.2: nothing is said about a token that is not.
            Value::Object(_) => Err(VerifyError::Invalid(
                "the token is unknown, has expired or was revoked".into(),
            )),
            _ => Err(VerifyError::Unavailable(format!(
                "{address}: the answer is no JSON object"
            ))),
        }
    }

    async fn address(&self, fetcher: &Fetcher, issuer: &str) -> Result<Address, VerifyError> {
        if let Some(address) = &self.given {
            return Ok(address.clone());
        }
        let known = self.found().clone();
        if let Some(address) = known {
            return Ok(address);
        }
        let address = discovery::endpoint(fetcher, issuer, "introspection_endpoint").await?;
        Ok(self.found().insert(address).clone())
    }

    fn found(&self) -> MutexGuard<'_, Option<Address>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// RFC 6749, 2.3.1: both are encoded as forms are, then as Basic is.
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

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Introspection")
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}
