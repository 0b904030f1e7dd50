//! Digests, as JOSE and OAuth write them.

use ring::digest::{SHA256, digest as of};

use super::base64url;

/// The SHA-256 digest as base64url: PKCE's S256, DPoP's `ath`, thumbprints.
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

/// Whether two texts are the same, in a time that tells nothing of how much of them is.
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    use ring::hmac;
    // The tags are compared in constant time, and say nothing without being whole.
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"is the same");
    let tag = hmac::sign(&key, one);
    hmac::verify(&key, other, tag.as_ref()).is_ok()
}
