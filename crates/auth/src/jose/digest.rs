//! Digests in the forms that JOSE and OAuth use.

use ring::digest::{SHA256, digest as of};

use super::base64url;

/// Returns the SHA-256 digest as base64url, as used for PKCE's S256, DPoP's `ath` and thumbprints.
///
/// ```
/// // RFC 7636, appendix B.
/// let challenge = turnbuckle_auth::jose::digest("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
/// assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
/// ```
pub fn digest(bytes: impl AsRef<[u8]>) -> String {
    base64url::encode(sha256(bytes))
}

/// The SHA-256 digest.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> [u8; 32] {
    let mut all = [0; 32];
    all.copy_from_slice(of(&SHA256, bytes.as_ref()).as_ref());
    all
}

/// Compares two texts. The time that it takes does not reveal how much of them is equal.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    use ring::hmac;
    // The tags are compared in constant time, and reveal nothing about parts of the texts.
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"is the same");
    let tag = hmac::sign(&key, one);
    hmac::verify(&key, other, tag.as_ref()).is_ok()
}
