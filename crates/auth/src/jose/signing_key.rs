//! Private keys, and the tokens that are signed with them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RsaKeyPair,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Jwk, base64url};

/// A private key that signs tokens with ES256, RS256 or EdDSA, depending on the kind of key.
///
/// Its `Debug` output shows the algorithm only.
///
/// ```
/// use turnbuckle_auth::jose::SigningKey;
///
/// let key = SigningKey::generate()?.with_key_id("2026-07");
/// let token = key.sign("JWT", &serde_json::json!({"sub": "me"}))?;
/// assert_eq!(token.split('.').count(), 3);
/// assert_eq!(format!("{key:?}"), "SigningKey(ES256)");
/// # Ok::<(), turnbuckle_auth::jose::KeyError>(())
/// ```
pub struct SigningKey {
    pair: Pair,
    key_id: Option<String>,
}

enum Pair {
    Es256(EcdsaKeyPair),
    Rs256(Box<RsaKeyPair>),
    EdDsa(Ed25519KeyPair),
}

/// Why a private key cannot be used, or cannot sign. Returned by the methods of [`SigningKey`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The text contains no private key in PEM.
    #[error(
        "there is no private key in the PEM text; it begins with `-----BEGIN PRIVATE KEY-----`"
    )]
    NoKey,
    /// The key is in a format other than PKCS#8, or PKCS#1 for RSA. The message contains a command
    /// that converts it.
    #[error(
        "the key is in the form `{form}`; convert it with `openssl pkcs8 -topk8 -nocrypt -in key.pem`"
    )]
    Form {
        /// The label of the PEM text.
        form: String,
    },
    /// The key cannot be used with ES256, RS256 or EdDSA: it has another curve, is an RSA key of
    /// less than 2048 bits, or is not a key.
    #[error("the key must be for ES256 (P-256), RS256 (RSA from 2048 bits) or EdDSA (Ed25519)")]
    Unknown,
    /// The operating system returned no random bytes, or signing failed.
    #[error("could not create a key or sign with it")]
    Unusable,
    /// The claims cannot be written as JSON.
    #[error("the claims cannot be written as JSON: {reason}")]
    Claims {
        /// The error of the serialiser.
        reason: String,
    },
}

impl SigningKey {
    /// Generates a new key for ES256. The key is not stored; use [`parse_pem`](Self::parse_pem) for
    /// keys that outlive the process.
    ///
    /// # Errors
    /// [`KeyError::Unusable`] if the operating system returns no random bytes.
    pub fn generate() -> Result<Self, KeyError> {
        Self::parse_pkcs8(&Self::generate_pkcs8()?)
    }

    /// Generates a new key for ES256, in a form that can be stored.
    pub(crate) fn generate_pkcs8() -> Result<Vec<u8>, KeyError> {
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .map(|document| document.as_ref().to_vec())
            .map_err(|_| KeyError::Unusable)
    }

    /// Parses a key from PEM: PKCS#8 for every kind of key, or PKCS#1 for RSA. Encrypted keys are
    /// not supported.
    ///
    /// # Errors
    /// [`KeyError::NoKey`] if the text contains no private key in PEM, [`KeyError::Form`] if the
    /// key is in another format, and [`KeyError::Unknown`] if its kind is not supported.
    pub fn parse_pem(text: &str) -> Result<Self, KeyError> {
        let (_, rest) = text.split_once("-----BEGIN ").ok_or(KeyError::NoKey)?;
        let (form, rest) = rest.split_once("-----").ok_or(KeyError::NoKey)?;
        let (body, _) = rest.split_once("-----END ").ok_or(KeyError::NoKey)?;
        let body: String = body.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let der = STANDARD.decode(body).map_err(|_| KeyError::NoKey)?;
        match form {
            "PRIVATE KEY" => Self::parse_pkcs8(&der),
            "RSA PRIVATE KEY" => RsaKeyPair::from_der(&der)
                .map(|pair| Self::from(Pair::Rs256(Box::new(pair))))
                .map_err(|_| KeyError::Unknown),
            form => Err(KeyError::Form {
                form: form.to_owned(),
            }),
        }
    }

    /// Parses a key from PKCS#8 in DER.
    ///
    /// # Errors
    /// [`KeyError::Unknown`] if it is not a usable key.
    pub fn parse_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let random = SystemRandom::new();
        if let Ok(pair) = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &random) {
            return Ok(Pair::Es256(pair).into());
        }
        if let Ok(pair) = RsaKeyPair::from_pkcs8(der) {
            return Ok(Pair::Rs256(Box::new(pair)).into());
        }
        Ed25519KeyPair::from_pkcs8_maybe_unchecked(der)
            .map(|pair| Pair::EdDsa(pair).into())
            .map_err(|_| KeyError::Unknown)
    }

    /// Sets the key id (`kid`) that is written into tokens, so that the other side finds the public
    /// key in its key set. Give each key its own id, such as the month in which it was made.
    pub fn with_key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = Some(key_id.into());
        self
    }

    /// The algorithm that the key signs with: `ES256`, `RS256` or `EdDSA`.
    pub fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Es256(_) => "ES256",
            Pair::Rs256(_) => "RS256",
            Pair::EdDsa(_) => "EdDSA",
        }
    }

    /// The public key as a minimal JWK, with only the members that define the key.
    /// [`public_key`](Self::public_key) returns it as a [`Jwk`] with the key's id.
    pub fn public_jwk(&self) -> Value {
        match &self.pair {
            Pair::Es256(pair) => {
                // Uncompressed: 4, then both coordinates of 32 bytes.
                let point = pair.public_key().as_ref();
                let (x, y) = point.get(1..).unwrap_or_default().split_at(32);
                let (x, y) = (base64url::encode(x), base64url::encode(y));
                json!({"crv": "P-256", "kty": "EC", "x": x, "y": y})
            }
            Pair::Rs256(pair) => {
                let parts = ring::rsa::PublicKeyComponents::<Vec<u8>>::from(pair.public());
                let (e, n) = (base64url::encode(parts.e), base64url::encode(parts.n));
                json!({"e": e, "kty": "RSA", "n": n})
            }
            Pair::EdDsa(pair) => {
                let x = base64url::encode(pair.public_key());
                json!({"crv": "Ed25519", "kty": "OKP", "x": x})
            }
        }
    }

    /// The public key.
    ///
    /// # Panics
    /// Never: the public key is of a kind that [`Jwk::parse`] supports.
    pub fn public_key(&self) -> Jwk {
        let key = Jwk::parse(&self.public_jwk()).expect("a public key of ours is one of our kinds");
        match &self.key_id {
            Some(id) => key.with_id(id.clone()),
            None => key,
        }
    }

    /// Signs claims as a token of this type (`typ`), such as `JWT`. Returns the token in its
    /// compact form. The header contains `typ`, `alg`, and `kid` if a key id is set. Claims such as
    /// `exp` are not added.
    ///
    /// # Errors
    /// [`KeyError::Claims`] if the claims cannot be written as JSON, and [`KeyError::Unusable`] if
    /// signing fails.
    pub fn sign(&self, kind: &str, claims: &impl Serialize) -> Result<String, KeyError> {
        let mut header = json!({"typ": kind, "alg": self.algorithm()});
        if let Some(key_id) = &self.key_id {
            header["kid"] = json!(key_id);
        }
        self.sign_with_header(&header, claims)
    }

    /// Signs claims with this header, which is used unchanged.
    ///
    /// # Errors
    /// If the claims cannot be written as JSON, or signing fails.
    pub fn sign_with_header(
        &self,
        header: &Value,
        claims: &impl Serialize,
    ) -> Result<String, KeyError> {
        let claims = serde_json::to_vec(claims).map_err(|error| KeyError::Claims {
            reason: error.to_string(),
        })?;
        let header = base64url::encode(header.to_string());
        let mut token = format!("{header}.{}", base64url::encode(claims));
        let signature = self.signature(token.as_bytes())?;
        token.push('.');
        token.push_str(&base64url::encode(signature));
        Ok(token)
    }

    fn signature(&self, message: &[u8]) -> Result<Vec<u8>, KeyError> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Es256(pair) => pair
                .sign(&random, message)
                .map(|signature| signature.as_ref().to_vec())
                .map_err(|_| KeyError::Unusable),
            Pair::Rs256(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature)
                    .map_err(|_| KeyError::Unusable)?;
                Ok(signature)
            }
            Pair::EdDsa(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }
}

impl From<Pair> for SigningKey {
    fn from(pair: Pair) -> Self {
        Self { pair, key_id: None }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.algorithm())
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn what_is_signed_is_verified_by_the_public_key() {
        let key = SigningKey::generate().unwrap().with_key_id("a");
        let token = key.sign("JWT", &json!({"sub": "me"})).unwrap();
        let (message, signature) = token.rsplit_once('.').unwrap();
        let (header, claims) = message.split_once('.').unwrap();
        let header: Value = serde_json::from_slice(&base64url::decode(header).unwrap()).unwrap();
        assert_eq!(header, json!({"typ": "JWT", "alg": "ES256", "kid": "a"}));
        assert_eq!(base64url::decode(claims).unwrap(), br#"{"sub":"me"}"#);
        let jwk = key.public_jwk();
        let part = |name: &str| base64url::decode(jwk[name].as_str().unwrap()).unwrap();
        let point = [vec![4], part("x"), part("y")].concat();
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        let signature = base64url::decode(signature).unwrap();
        public.verify(message.as_bytes(), &signature).unwrap();
        assert!(public.verify(b"another message", &signature).is_err());
    }

    #[test]
    fn a_key_that_cannot_be_used_is_told_why() {
        for (text, error) in [
            ("", KeyError::NoKey),
            ("-----BEGIN PRIVATE KEY-----", KeyError::NoKey),
            (
                "-----BEGIN PRIVATE KEY-----\n*\n-----END PRIVATE KEY-----",
                KeyError::NoKey,
            ),
            (
                "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
                KeyError::Unknown,
            ),
            (
                "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----",
                KeyError::Form {
                    form: "EC PRIVATE KEY".to_owned(),
                },
            ),
        ] {
            assert_eq!(SigningKey::parse_pem(text).unwrap_err(), error, "{text}");
        }
    }
}
