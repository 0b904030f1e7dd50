//! DPoP (RFC 9449): tokens that are bound to a key, and proofs of possession.

use std::collections::HashMap;
use std::fmt;

use serde_json::json;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::{Address, HeaderMap, HeaderValue, Method};

use super::clock::Timestamp;
use super::random::random_text;
use super::{AuthError, Problem, Step};
use crate::Secret;
use crate::jose::{SigningKey, base64url, digest};

/// The header that contains a proof.
pub(crate) const HEADER: &str = "dpop";

/// The header that contains a nonce for the next proof.
pub(crate) const NONCE: &str = "dpop-nonce";

/// The nonces of 64 origins are remembered. A client talks to only a few.
const MAX_NONCES: usize = 64;

/// 1 KiB: nonces are short.
const MAX_NONCE_BYTES: usize = 1024;

/// Whether tokens are bound to a key with DPoP (RFC 9449), so that a stolen token is useless. Set
/// it with [`OAuth::dpop`](super::OAuth::dpop).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dpop {
    /// Binds tokens if the server offers or requires it and its authorization server supports it.
    /// This is the default.
    #[default]
    WhenAsked,
    /// Always binds tokens. The flow fails if the authorization server does not support it.
    Required,
    /// Never binds tokens, even if the server offers it. A server that requires bound tokens then
    /// refuses every request.
    Never,
}

/// A key that tokens are bound to.
pub(crate) struct ProofKey {
    key: SigningKey,
    thumbprint: String,
    /// The key in the form in which it is stored.
    kept: Secret,
}

impl ProofKey {
    pub(crate) fn generate() -> Result<Self, AuthError> {
        let der = SigningKey::generate_pkcs8().map_err(unusable)?;
        Self::load(&Secret::new(base64url::encode(der)))
            .ok_or_else(|| unusable(crate::jose::KeyError::Unusable))
    }

    /// Loads a stored key.
    pub(crate) fn load(kept: &Secret) -> Option<Self> {
        let der = zeroize::Zeroizing::new(base64url::decode(kept.expose())?);
        let key = SigningKey::parse_pkcs8(&der).ok()?;
        Some(Self {
            // RFC 7638: the members that define the key, in alphabetical order.
            thumbprint: digest(key.public_jwk().to_string()),
            key,
            kept: kept.clone(),
        })
    }

    pub(crate) fn kept(&self) -> &Secret {
        &self.kept
    }

    pub(crate) fn thumbprint(&self) -> &str {
        &self.thumbprint
    }

    /// Makes a proof for one request.
    fn proof(
        &self,
        method: &Method,
        address: &Address,
        token: Option<&Secret>,
        nonce: Option<&str>,
        now: Timestamp,
    ) -> Result<HeaderValue, AuthError> {
        let mut claims = json!({
            "jti": random_text().expose(),
            "htm": method.as_str(),
            // RFC 9449, 4.2: `htu` has no query or fragment. The `Display` of an address has neither.
            "htu": address.to_string(),
            "iat": now.0,
        });
        if let Some(token) = token {
            claims["ath"] = json!(digest(token.expose()));
        }
        if let Some(nonce) = nonce {
            claims["nonce"] = json!(nonce);
        }
        let header = json!({
            "typ": "dpop+jwt",
            "alg": self.key.algorithm(),
            "jwk": self.key.public_jwk(),
        });
        let proof = self
            .key
            .sign_with_header(&header, &claims)
            .map_err(unusable)?;
        HeaderValue::try_from(proof).map_err(|_| unusable(crate::jose::KeyError::Unusable))
    }
}

fn unusable(error: crate::jose::KeyError) -> AuthError {
    let problem = Problem::Local("could not create a DPoP proof".to_owned());
    AuthError::new(Step::Token, problem).caused_by(error)
}

impl fmt::Debug for ProofKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProofKey({})", self.thumbprint)
    }
}

/// The nonces that servers require in the next proof, by origin.
#[derive(Debug, Default)]
pub(crate) struct ServerNonces(Mutex<HashMap<String, String>>);

impl ServerNonces {
    /// Stores the nonce of a response, if it has one. Returns whether it did.
    pub(crate) fn note(&self, from: &Address, headers: &HeaderMap) -> bool {
        let Some(nonce) = headers.get(NONCE).and_then(|nonce| nonce.to_str().ok()) else {
            return false;
        };
        if nonce.is_empty() || nonce.len() > MAX_NONCE_BYTES {
            return false;
        }
        let mut all = self.0.lock();
        if all.len() >= MAX_NONCES {
            all.clear();
        }
        all.insert(origin(from), nonce.to_owned());
        true
    }

    /// Makes a proof for a request, with the nonce for its origin.
    pub(crate) fn prove(
        &self,
        key: &ProofKey,
        method: &Method,
        address: &Address,
        token: Option<&Secret>,
        now: Timestamp,
    ) -> Result<HeaderValue, AuthError> {
        let all = self.0.lock();
        let nonce = all.get(&origin(address)).cloned();
        drop(all);
        key.proof(method, address, token, nonce.as_deref(), now)
    }
}

fn origin(address: &Address) -> String {
    let uri = address.uri();
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    format!("{}://{authority}", uri.scheme_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn claims(proof: &HeaderValue) -> (Value, Value) {
        let mut parts = proof.to_str().unwrap().split('.');
        let mut part = || {
            let text = base64url::decode(parts.next().unwrap()).unwrap();
            serde_json::from_slice::<Value>(&text).unwrap()
        };
        (part(), part())
    }

    #[test]
    fn each_request_has_a_proof_of_its_own() {
        let key = ProofKey::generate().unwrap();
        let nonces = ServerNonces::default();
        let at = Address::parse("https://host/mcp?key=secret#part").unwrap();
        let token = Secret::new("token");
        let prove = || {
            let proof = nonces.prove(&key, &Method::POST, &at, Some(&token), Timestamp(7));
            claims(&proof.unwrap())
        };
        let (header, first) = prove();
        assert_eq!(header["typ"], "dpop+jwt");
        assert_eq!(header["alg"], "ES256");
        assert!(header["jwk"].get("d").is_none());
        assert_eq!(first["htm"], "POST");
        assert_eq!(first["htu"], "https://host/mcp");
        assert_eq!(first["iat"], 7);
        assert_eq!(first["ath"], digest("token"));
        assert_eq!(first.get("nonce"), None);
        assert_ne!(prove().1["jti"], first["jti"]);
    }

    #[test]
    fn a_nonce_is_for_the_origin_that_gave_it() {
        let key = ProofKey::generate().unwrap();
        let nonces = ServerNonces::default();
        let mut headers = HeaderMap::new();
        let here = Address::parse("https://host/mcp").unwrap();
        assert!(!nonces.note(&here, &headers));
        headers.insert(NONCE, HeaderValue::from_static("n1"));
        assert!(nonces.note(&here, &headers));
        let nonce = |at: &str| {
            let at = Address::parse(at).unwrap();
            let proof = nonces
                .prove(&key, &Method::GET, &at, None, Timestamp(7))
                .unwrap();
            claims(&proof).1.get("nonce").cloned()
        };
        assert_eq!(nonce("https://host/other"), Some(json!("n1")));
        assert_eq!(nonce("https://as.example/token"), None);
    }

    #[test]
    fn a_key_that_was_kept_is_the_same_key() {
        let key = ProofKey::generate().unwrap();
        let again = ProofKey::load(key.kept()).unwrap();
        assert_eq!(again.thumbprint(), key.thumbprint());
        assert!(!format!("{key:?}").contains(key.kept().expose()));
    }
}
