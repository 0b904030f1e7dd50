//! Signed tokens in their compact form (RFC 7515, RFC 7519).

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Algorithm, Jwk, JwkSet, base64url};

/// The size limit of a token, in bytes. HTTP headers are rarely allowed to be longer, and every
/// byte is hashed.
const MAX_BYTES: usize = 32 * 1024;

/// How many keys are tried for one signature if the token does not name its key. Verifying an RSA
/// signature takes some tens of microseconds.
const MAX_TRIES: usize = 8;

/// A signed token (JWS in compact form), split into its parts. Do not trust its content before
/// [`verify`](Self::verify) has succeeded. Check `exp`, `aud` and `iss` after that, because this
/// type checks signatures only. A `server::Guard` does all of these checks.
#[derive(Debug)]
pub struct Jws<'a> {
    header: Header,
    claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

/// The header of a token, from [`Jws::header`]. Do not trust it before the signature is verified.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Header {
    /// The name of the algorithm, as stated in the token. It need not be an accepted algorithm.
    pub alg: String,
    /// The id of the key that signed the token, if it is stated.
    #[serde(default)]
    pub kid: Option<String>,
    /// The type of the token, such as `JWT`, `at+jwt` or `dpop+jwt`.
    #[serde(default)]
    pub typ: Option<String>,
    /// A key that is contained in the token, as in DPoP proofs. Never use it to verify an access token.
    #[serde(default)]
    pub jwk: Option<Value>,
    /// The names of header members that must be understood.
    #[serde(default)]
    crit: Option<Value>,
}

/// Why a token was refused by [`Jws::parse`] or [`Jws::verify`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadToken {
    /// The token is longer than 32 KiB.
    #[error("the token is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The text does not have the three parts of a token. Opaque tokens cause this error; use
    /// introspection for them.
    #[error("the token is not a signed JWT in three parts")]
    Shape,
    /// The header or the claims are not JSON objects, or the signature is not base64url.
    #[error("the {0} of the token cannot be read")]
    Part(&'static str),
    /// The token's algorithm is not allowed, symmetric or unknown.
    #[error("tokens signed with `{0}` are not accepted")]
    Algorithm(String),
    /// The token has critical header members (`crit`), which are not supported.
    #[error("the token has a `crit` header, and no critical header member is supported")]
    Critical,
    /// No key of the set matches the token. The issuer may have new keys: fetch the set again.
    #[error("no key of the issuer matches the token")]
    UnknownKey,
    /// The signature was made by another key or for other content. The token is forged or damaged.
    #[error("the signature does not match the token")]
    Signature,
}

impl<'a> Jws<'a> {
    /// Splits a token into its parts and decodes them. The signature is not checked.
    ///
    /// # Errors
    /// [`BadToken`] if it is not a signed token: it is too long, does not have three parts, is not
    /// JSON, or has critical members.
    pub fn parse(token: &'a str) -> Result<Self, BadToken> {
        if token.len() > MAX_BYTES {
            return Err(BadToken::TooLong);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(BadToken::Shape)?;
        let (header, claims) = signed.split_once('.').ok_or(BadToken::Shape)?;
        if claims.contains('.') {
            return Err(BadToken::Shape);
        }
        let header: Header = part(header).ok_or(BadToken::Part("header"))?;
        if header.crit.is_some() {
            // RFC 7515, 4.1.11: a token with critical members that are not understood MUST be refused.
            return Err(BadToken::Critical);
        }
        Ok(Self {
            header,
            claims: part(claims).ok_or(BadToken::Part("claims"))?,
            signed,
            signature: base64url::decode(signature).ok_or(BadToken::Part("signature"))?,
        })
    }

    /// The header of the token. Do not trust it before the signature is verified.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The claims before the signature is checked. Use them only to choose the keys for
    /// verification, for example by `iss`.
    pub fn unverified_claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// Returns the algorithm of the token, if it is one of the allowed ones. Never take the
    /// algorithm from the header without this check.
    ///
    /// # Errors
    /// [`BadToken::Algorithm`] if it is not allowed.
    pub fn algorithm(&self, allowed: &[Algorithm]) -> Result<Algorithm, BadToken> {
        Algorithm::from_name(&self.header.alg)
            .filter(|algorithm| allowed.contains(algorithm))
            .ok_or_else(|| BadToken::Algorithm(self.header.alg.chars().take(16).collect()))
    }

    /// Verifies the signature with the keys of an issuer, and returns the claims.
    ///
    /// ```
    /// use turnbuckle_auth::jose::{Algorithm, Jws, JwkSet, SigningKey};
    ///
    /// let key = SigningKey::generate()?;
    /// let keys = JwkSet::new([key.public_key()]);
    /// let token = key.sign("JWT", &serde_json::json!({ "sub": "ada" }))?;
    /// let claims = Jws::parse(&token)?.verify(&keys, &[Algorithm::Es256])?;
    /// assert_eq!(claims["sub"], "ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BadToken`] if the algorithm is not allowed, no key matches the token, or none of them made
    /// the signature.
    pub fn verify(
        self,
        keys: &JwkSet,
        allowed: &[Algorithm],
    ) -> Result<Map<String, Value>, BadToken> {
        let algorithm = self.algorithm(allowed)?;
        let id = self.header.kid.as_deref();
        let mut verdict = BadToken::UnknownKey;
        for key in keys.candidates(algorithm, id).take(MAX_TRIES) {
            if key.verifies(algorithm, self.signed.as_bytes(), &self.signature) {
                return Ok(self.claims);
            }
            // A key without an id may be another key than the one that the token names.
            if id.is_none() || key.id() == id {
                verdict = BadToken::Signature;
            }
        }
        Err(verdict)
    }

    /// Verifies the signature with this key, and returns the claims. Use it if the key is known, as
    /// for DPoP proofs.
    ///
    /// # Errors
    /// [`BadToken::Algorithm`] if the algorithm is not allowed, and [`BadToken::Signature`] if the
    /// key did not make the signature.
    pub fn verify_with(
        self,
        key: &Jwk,
        allowed: &[Algorithm],
    ) -> Result<Map<String, Value>, BadToken> {
        let algorithm = self.algorithm(allowed)?;
        if key.verifies(algorithm, self.signed.as_bytes(), &self.signature) {
            Ok(self.claims)
        } else {
            Err(BadToken::Signature)
        }
    }
}

fn part<T: for<'de> Deserialize<'de>>(text: &str) -> Option<T> {
    serde_json::from_slice(&base64url::decode(text)?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jose::SigningKey;

    fn token(header: &Value, claims: &Value) -> String {
        let part = |json: &Value| base64url::encode(json.to_string());
        format!("{}.{}.c2ln", part(header), part(claims))
    }

    fn signed(key: &SigningKey, id: &str, claims: &Value) -> String {
        let header = json!({ "alg": key.algorithm(), "kid": id });
        key.sign_with_header(&header, claims).unwrap()
    }

    #[test]
    fn what_is_signed_is_verified() {
        let (key, other) = (
            SigningKey::generate().unwrap(),
            SigningKey::generate().unwrap(),
        );
        let keys = JwkSet::new([
            other.public_key().with_id("b"),
            key.public_key().with_id("a"),
        ]);
        let token = signed(&key, "a", &json!({ "sub": "ann" }));
        let claims = Jws::parse(&token)
            .unwrap()
            .verify(&keys, &Algorithm::ALL)
            .unwrap();
        assert_eq!(claims["sub"], "ann");
        let refused = |token: &str| {
            Jws::parse(token)
                .and_then(|jws| jws.verify(&keys, &Algorithm::ALL))
                .unwrap_err()
        };
        let stranger = signed(&other, "a", &json!({ "sub": "ann" }));
        assert_eq!(refused(&stranger), BadToken::Signature);
        let unknown = signed(&key, "c", &json!({}));
        assert_eq!(refused(&unknown), BadToken::UnknownKey);
        let (head, rest) = token.split_once('.').unwrap();
        let (_, signature) = rest.split_once('.').unwrap();
        let forged = format!(
            "{head}.{}.{signature}",
            base64url::encode(r#"{"sub":"eve"}"#)
        );
        assert_eq!(refused(&forged), BadToken::Signature);
    }

    #[test]
    fn none_and_shared_secrets_are_no_algorithms() {
        let key = SigningKey::generate().unwrap();
        let keys = JwkSet::new([key.public_key()]);
        for name in ["none", "None", "NONE", "HS256", "HS512", "", "ES256K"] {
            let token = token(&json!({ "alg": name }), &json!({ "sub": "eve" }));
            let refused = Jws::parse(&token).unwrap().verify(&keys, &Algorithm::ALL);
            assert_eq!(refused, Err(BadToken::Algorithm(name.into())), "{name}");
        }
        let token = key.sign("JWT", &json!({})).unwrap();
        let refused = Jws::parse(&token)
            .unwrap()
            .verify(&keys, &[Algorithm::Rs256]);
        assert_eq!(refused, Err(BadToken::Algorithm("ES256".into())));
    }

    #[test]
    fn damaged_tokens_are_refused() {
        let critical = token(&json!({ "alg": "ES256", "crit": ["x"] }), &json!({}));
        let array = token(&json!({ "alg": "ES256" }), &json!([]));
        let table = [
            ("", BadToken::Shape),
            ("a.b", BadToken::Shape),
            ("a.b.c.d", BadToken::Shape),
            ("?.b.c", BadToken::Part("header")),
            (critical.as_str(), BadToken::Critical),
            (array.as_str(), BadToken::Part("claims")),
        ];
        for (text, expected) in table {
            assert_eq!(Jws::parse(text).unwrap_err(), expected, "{text}");
        }
        let long = "a".repeat(MAX_BYTES + 1);
        assert_eq!(Jws::parse(&long).unwrap_err(), BadToken::TooLong);
    }
}
