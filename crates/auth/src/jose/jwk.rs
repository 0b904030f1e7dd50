//! Public keys as JSON (RFC 7517), and their thumbprints (RFC 7638).

use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};
use serde_json::{Map, Value, json};

use super::{Algorithm, base64url, digest};

/// The most keys of one set. Issuers publish only a few; a document with thousands is an attack.
const MAX_KEYS: usize = 64;

/// Members that only private and symmetric keys have.
const SECRET_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// A public key that verifies signatures (RFC 7517).
///
/// ```
/// use turnbuckle_auth::jose::{Algorithm, SigningKey};
///
/// let key = SigningKey::generate()?;
/// let public = key.public_key();
/// assert!(public.allows(Algorithm::Es256));
/// assert!(!public.allows(Algorithm::Rs256));
/// # Ok::<(), turnbuckle_auth::jose::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    id: Option<String>,
    algorithm: Option<String>,
    is_for_signatures: bool,
    material: Material,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point on P-256 or P-384.
    Ec {
        curve: Curve,
        point: Vec<u8>,
    },
    Ed25519 {
        x: Vec<u8>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Curve {
    P256,
    P384,
}

/// Why a JSON value is not a usable public key. Returned by [`Jwk::parse`] and [`JwkSet::parse`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadKey {
    /// A member is missing or malformed.
    #[error("member `{0}` of the key is missing or cannot be read")]
    Member(&'static str),
    /// The kind of key is not supported. Supported are RSA, EC with P-256 or P-384, and Ed25519.
    #[error("keys of kind `{0}` are not supported; use RSA, EC with P-256 or P-384, or Ed25519")]
    Kind(String),
    /// The value contains a private key or a symmetric key. Publish only the public half, and
    /// replace the key if it was published.
    #[error("the key is private or shared; publish its public half")]
    Secret,
}

impl Jwk {
    /// Parses a key from JSON: RSA, EC on P-256 or P-384, or Ed25519. A key whose `use` or
    /// `key_ops` excludes signatures is parsed, but [allows](Self::allows) no algorithm.
    ///
    /// # Errors
    /// [`BadKey::Secret`] if it contains a private or shared key, [`BadKey::Kind`] if it is of an
    /// unsupported kind, and [`BadKey::Member`] if a member is missing or malformed.
    pub fn parse(json: &Value) -> Result<Self, BadKey> {
        let object = json.as_object().ok_or(BadKey::Member("kty"))?;
        if SECRET_MEMBERS.iter().any(|name| object.contains_key(*name)) {
            return Err(BadKey::Secret);
        }
        let kind = text(object, "kty")?;
        let material = match (kind, object.get("crv").and_then(Value::as_str)) {
            ("RSA", _) => Material::Rsa {
                n: unsigned(object, "n")?,
                e: unsigned(object, "e")?,
            },
            ("EC", Some("P-256")) => point(object, Curve::P256)?,
            ("EC", Some("P-384")) => point(object, Curve::P384)?,
            ("OKP", Some("Ed25519")) => Material::Ed25519 {
                x: sized(object, "x", 32)?,
            },
            (kind, Some(curve)) => return Err(BadKey::Kind(format!("{kind} {curve}"))),
            (kind, None) => return Err(BadKey::Kind(kind.to_owned())),
        };
        let word = |name| object.get(name).and_then(Value::as_str);
        let operations = object.get("key_ops").and_then(Value::as_array);
        Ok(Self {
            id: word("kid").map(str::to_owned),
            algorithm: word("alg").map(str::to_owned),
            is_for_signatures: word("use").is_none_or(|meant| meant == "sig")
                && operations.is_none_or(|all| all.iter().any(|one| one == "verify")),
            material,
        })
    }

    /// The key's id (`kid`), if it has one. Tokens name the key that signed them by this id.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Sets the key's id (`kid`).
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Whether the key may be used with this algorithm: the kinds match, and the key is not
    /// restricted to another algorithm or to encryption.
    pub fn allows(&self, algorithm: Algorithm) -> bool {
        use Algorithm::{EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        let fits = match (&self.material, algorithm) {
            (Material::Rsa { .. }, Rs256 | Rs384 | Rs512 | Ps256 | Ps384 | Ps512)
            | (Material::Ed25519 { .. }, EdDsa) => true,
            (Material::Ec { curve, .. }, Es256) => *curve == Curve::P256,
            (Material::Ec { curve, .. }, Es384) => *curve == Curve::P384,
            _ => false,
        };
        let said = self.algorithm.as_deref();
        fits && self.is_for_signatures
            && said.is_none_or(|said| Algorithm::from_name(said) == Some(algorithm))
    }

    /// Whether this key made the signature of the message. Returns false also if the key does not
    /// [allow](Self::allows) the algorithm. RSA keys must have at least 2048 bits.
    pub fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        if !self.allows(algorithm) {
            return false;
        }
        let verified = match &self.material {
            Material::Rsa { n, e } => {
                let key = RsaPublicKeyComponents { n, e };
                rsa(algorithm).and_then(|how| key.verify(how, message, signature).ok())
            }
            Material::Ec { curve, point } => {
                let how: &'static dyn VerificationAlgorithm = match curve {
                    Curve::P256 => &ECDSA_P256_SHA256_FIXED,
                    Curve::P384 => &ECDSA_P384_SHA384_FIXED,
                };
                let key = UnparsedPublicKey::new(how, point);
                key.verify(message, signature).ok()
            }
            Material::Ed25519 { x } => {
                let key = UnparsedPublicKey::new(&ED25519, x);
                key.verify(message, signature).ok()
            }
        };
        verified.is_some()
    }

    /// The thumbprint of the key in base64url (RFC 7638), which DPoP tokens are bound to. All JSON
    /// forms of one key have the same thumbprint.
    pub fn thumbprint(&self) -> String {
        let members = self.members();
        let mut members: Vec<_> = members.iter().collect();
        members.sort();
        // Only the members that define the key, in the order of their names, without blanks.
        let text: Vec<_> = members
            .iter()
            .map(|(name, value)| format!("\"{name}\":\"{value}\""))
            .collect();
        digest(format!("{{{}}}", text.join(",")))
    }

    /// The key as JSON, in the form in which it is published in a key set: the members that define
    /// it, and `kid` and `alg` if they are set.
    pub fn to_json(&self) -> Value {
        let mut json = Map::new();
        for (name, value) in self.members() {
            json.insert(name.to_owned(), value.into());
        }
        if let Some(id) = &self.id {
            json.insert("kid".into(), json!(id));
        }
        if let Some(algorithm) = &self.algorithm {
            json.insert("alg".into(), json!(algorithm));
        }
        Value::Object(json)
    }

    /// The parameters of the key.
    fn members(&self) -> Vec<(&'static str, String)> {
        match &self.material {
            Material::Rsa { n, e } => vec![
                ("kty", "RSA".into()),
                ("n", base64url::encode(n)),
                ("e", base64url::encode(e)),
            ],
            Material::Ec { curve, point } => {
                let (x, y) = point[1..].split_at(curve.bytes());
                vec![
                    ("kty", "EC".into()),
                    ("crv", curve.name().into()),
                    ("x", base64url::encode(x)),
                    ("y", base64url::encode(y)),
                ]
            }
            Material::Ed25519 { x } => vec![
                ("kty", "OKP".into()),
                ("crv", "Ed25519".into()),
                ("x", base64url::encode(x)),
            ],
        }
    }
}

impl Curve {
    fn bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
        }
    }
}

fn rsa(algorithm: Algorithm) -> Option<&'static RsaParameters> {
    Some(match algorithm {
        Algorithm::Rs256 => &signature::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::Rs384 => &signature::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::Rs512 => &signature::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::Ps256 => &signature::RSA_PSS_2048_8192_SHA256,
        Algorithm::Ps384 => &signature::RSA_PSS_2048_8192_SHA384,
        Algorithm::Ps512 => &signature::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn point(object: &Map<String, Value>, curve: Curve) -> Result<Material, BadKey> {
    // 4 is the tag of an uncompressed point: both coordinates follow.
    let mut point = vec![4];
    point.extend(sized(object, "x", curve.bytes())?);
    point.extend(sized(object, "y", curve.bytes())?);
    Ok(Material::Ec { curve, point })
}

fn text<'a>(object: &'a Map<String, Value>, name: &'static str) -> Result<&'a str, BadKey> {
    let text = object.get(name).and_then(Value::as_str);
    text.ok_or(BadKey::Member(name))
}

fn bytes(object: &Map<String, Value>, name: &'static str) -> Result<Vec<u8>, BadKey> {
    base64url::decode(text(object, name)?).ok_or(BadKey::Member(name))
}

fn sized(
    object: &Map<String, Value>,
    name: &'static str,
    length: usize,
) -> Result<Vec<u8>, BadKey> {
    let bytes = bytes(object, name)?;
    (bytes.len() == length)
        .then_some(bytes)
        .ok_or(BadKey::Member(name))
}

/// Reads a number without leading zeros, which some issuers write against the specification.
fn unsigned(object: &Map<String, Value>, name: &'static str) -> Result<Vec<u8>, BadKey> {
    let bytes = bytes(object, name)?;
    let start = bytes.iter().position(|byte| *byte != 0);
    start
        .map(|start| bytes[start..].to_vec())
        .ok_or(BadKey::Member(name))
}

/// A set of public keys, as an issuer publishes it (`jwks_uri`). Use it with
/// [`Jws::verify`](super::Jws::verify), or with `Issuer::keys` for keys that are not fetched.
#[derive(Clone, Debug, Default)]
pub struct JwkSet {
    keys: Vec<Jwk>,
}

impl JwkSet {
    /// Makes a set of these keys.
    pub fn new(keys: impl IntoIterator<Item = Jwk>) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }

    /// Parses a set from JSON. Keys of unsupported kinds are left out, as RFC 7517 requires. Keys
    /// beyond the first 64 are left out too.
    ///
    /// # Errors
    /// [`BadKey::Member`] if there is no `keys` array.
    pub fn parse(json: &Value) -> Result<Self, BadKey> {
        let keys = json.get("keys").and_then(Value::as_array);
        let keys = keys.ok_or(BadKey::Member("keys"))?;
        Ok(Self::new(
            keys.iter()
                .take(MAX_KEYS)
                .filter_map(|key| Jwk::parse(key).ok()),
        ))
    }

    /// The keys that may have signed a token with this algorithm. If a `kid` is given: the keys
    /// with this id, and the keys without an id. [`Jws::verify`](super::Jws::verify) tries them.
    pub fn candidates(&self, algorithm: Algorithm, id: Option<&str>) -> impl Iterator<Item = &Jwk> {
        self.keys.iter().filter(move |key| {
            key.allows(algorithm) && (id.is_none() || key.id().is_none() || key.id() == id)
        })
    }

    /// All keys of the set.
    pub fn keys(&self) -> &[Jwk] {
        &self.keys
    }

    /// The set as JSON, to be served as a JWKS document.
    pub fn to_json(&self) -> Value {
        let keys: Vec<_> = self.keys.iter().map(Jwk::to_json).collect();
        json!({ "keys": keys })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::SigningKey;

    #[test]
    fn the_thumbprint_of_the_standards_example_is_the_standards() {
        // RFC 7638, section 3.1.
        let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L\
                 6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ\
                 5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD\
                 08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEg\
                 U8awapJzKnqDKgw";
        let key = json!({ "kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29" });
        let key = Jwk::parse(&key).unwrap();
        assert_eq!(
            key.thumbprint(),
            "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
        );
        assert!(key.allows(Algorithm::Rs256));
        assert!(!key.allows(Algorithm::Rs512), "it is meant for RS256");
    }

    #[test]
    fn keys_that_are_secret_or_broken_are_refused() {
        let x = base64url::encode([1; 32]);
        let secret = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "d": x });
        assert_eq!(Jwk::parse(&secret), Err(BadKey::Secret));
        let shared = json!({ "kty": "oct", "k": x });
        assert_eq!(Jwk::parse(&shared), Err(BadKey::Secret));
        let short = json!({ "kty": "EC", "crv": "P-256", "x": x, "y": "AAAA" });
        assert_eq!(Jwk::parse(&short), Err(BadKey::Member("y")));
        let odd = json!({ "kty": "EC", "crv": "P-521", "x": x, "y": x });
        assert_eq!(Jwk::parse(&odd), Err(BadKey::Kind("EC P-521".into())));
        assert_eq!(Jwk::parse(&json!(3)), Err(BadKey::Member("kty")));
    }

    #[test]
    fn every_algorithm_is_verified_with_its_own_kind_of_key() {
        let random = ring::rand::SystemRandom::new();
        let rsa = SigningKey::parse_pem(include_str!("test_rsa.pem")).unwrap();
        let token = rsa.sign("JWT", &json!({})).unwrap();
        let (message, signed) = token.rsplit_once('.').unwrap();
        let signed = base64url::decode(signed).unwrap();
        let key = rsa.public_key();
        assert!(key.verifies(Algorithm::Rs256, message.as_bytes(), &signed));
        for other in Algorithm::ALL.into_iter().skip(1) {
            assert!(!key.verifies(other, message.as_bytes(), &signed), "{other}");
        }
        let pem: String = include_str!("test_rsa.pem")
            .lines()
            .filter(|line| !line.starts_with('-'))
            .collect();
        let der = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, pem).unwrap();
        let pair = signature::RsaKeyPair::from_pkcs8(&der).unwrap();
        let encodings: [(&'static dyn signature::RsaEncoding, Algorithm); 5] = [
            (&signature::RSA_PKCS1_SHA384, Algorithm::Rs384),
            (&signature::RSA_PKCS1_SHA512, Algorithm::Rs512),
            (&signature::RSA_PSS_SHA256, Algorithm::Ps256),
            (&signature::RSA_PSS_SHA384, Algorithm::Ps384),
            (&signature::RSA_PSS_SHA512, Algorithm::Ps512),
        ];
        for (encoding, algorithm) in encodings {
            let mut signed = vec![0; pair.public().modulus_len()];
            pair.sign(encoding, &random, b"text", &mut signed).unwrap();
            assert!(key.verifies(algorithm, b"text", &signed), "{algorithm}");
            assert!(!key.verifies(algorithm, b"other", &signed), "{algorithm}");
        }
    }

    #[test]
    fn p384_is_verified() {
        use signature::{ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
        let random = ring::rand::SystemRandom::new();
        let how = &ECDSA_P384_SHA384_FIXED_SIGNING;
        let document = EcdsaKeyPair::generate_pkcs8(how, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(how, document.as_ref(), &random).unwrap();
        let signed = pair.sign(&random, b"text").unwrap();
        let (x, y) = pair.public_key().as_ref()[1..].split_at(48);
        let (x, y) = (base64url::encode(x), base64url::encode(y));
        let key = Jwk::parse(&json!({ "kty": "EC", "crv": "P-384", "x": x, "y": y })).unwrap();
        assert!(key.verifies(Algorithm::Es384, b"text", signed.as_ref()));
        assert!(!key.verifies(Algorithm::Es384, b"other", signed.as_ref()));
    }

    #[test]
    fn a_key_for_encryption_verifies_nothing() {
        let x = base64url::encode([1; 32]);
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "use": "enc" });
        assert!(!Jwk::parse(&key).unwrap().allows(Algorithm::EdDsa));
        let key = json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "key_ops": ["sign"] });
        assert!(!Jwk::parse(&key).unwrap().allows(Algorithm::EdDsa));
    }

    #[test]
    fn a_set_is_bounded_and_skips_what_it_cannot_use() {
        let x = base64url::encode([1; 32]);
        let good = json!({ "kty": "OKP", "crv": "Ed25519", "x": x });
        let mut keys = vec![json!({ "kty": "oct", "k": x }); 2];
        keys.extend(vec![good; 100]);
        let set = JwkSet::parse(&json!({ "keys": keys })).unwrap();
        assert_eq!(set.keys().len(), MAX_KEYS - 2);
        assert!(JwkSet::parse(&json!({})).is_err());
    }
}
