//! Signature algorithms.

use std::fmt;

/// An asymmetric signature algorithm of JOSE.
///
/// ```
/// use turnbuckle_auth::jose::Algorithm;
///
/// assert_eq!(Algorithm::from_name("ES256"), Some(Algorithm::Es256));
/// assert_eq!(Algorithm::from_name("none"), None);
/// assert_eq!(Algorithm::from_name("HS256"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// RSA with PKCS#1 v1.5 padding and SHA-256, the default of most issuers.
    Rs256,
    /// RSA with PKCS#1 v1.5 padding and SHA-384.
    Rs384,
    /// RSA with PKCS#1 v1.5 padding and SHA-512.
    Rs512,
    /// RSA with PSS padding and SHA-256.
    Ps256,
    /// RSA with PSS padding and SHA-384.
    Ps384,
    /// RSA with PSS padding and SHA-512.
    Ps512,
    /// ECDSA on P-256 with SHA-256. [`SigningKey::generate`](super::SigningKey::generate) makes
    /// keys for it.
    Es256,
    /// ECDSA on P-384 with SHA-384.
    Es384,
    /// Ed25519, under its names `EdDSA` and `Ed25519`.
    EdDsa,
}

impl Algorithm {
    /// All algorithms, the most common first. Symmetric algorithms and `none` are not supported.
    pub const ALL: [Self; 9] = [
        Self::Rs256,
        Self::Es256,
        Self::Ps256,
        Self::EdDsa,
        Self::Rs384,
        Self::Rs512,
        Self::Ps384,
        Self::Ps512,
        Self::Es384,
    ];

    /// Returns the algorithm with this JOSE name, or `None` for unknown, symmetric and disabled
    /// algorithms. `Ed25519` is the newer name of `EdDSA` with that curve.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "Ed25519" {
            return Some(Self::EdDsa);
        }
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    /// The JOSE name of the algorithm, as in the `alg` of a token.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Ps256 => "PS256",
            Self::Ps384 => "PS384",
            Self::Ps512 => "PS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::EdDsa => "EdDSA",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
