//! Nonces for proofs, derived from the time and a key, so that they need not be stored (RFC 9449, 8).

use ring::hmac;

use crate::jose::base64url;

/// For how many seconds a nonce is issued. It is accepted for the same time again.
const PERIOD: u64 = 150;

/// Makes nonces and recognises its own.
#[derive(Debug)]
pub(super) struct Nonces(hmac::Key);

/// The age of a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    Current,
    /// The nonce is still accepted, but the client should get the next one.
    Previous,
}

impl Nonces {
    /// Replicas with the same secret accept each other's nonces.
    pub(super) fn new(secret: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, secret))
    }

    /// The nonce to use now.
    pub(super) fn current(&self, now: u64) -> String {
        let tag = hmac::sign(&self.0, &(now / PERIOD).to_be_bytes());
        base64url::encode(tag)
    }

    /// The age of a nonce; `None` if it is too old or was not made by us.
    pub(super) fn age(&self, nonce: &str, now: u64) -> Option<Age> {
        let tag = base64url::decode(nonce)?;
        let period = now / PERIOD;
        // The comparison of tags takes constant time.
        let is_of = |period: u64| hmac::verify(&self.0, &period.to_be_bytes(), &tag).is_ok();
        if is_of(period) {
            Some(Age::Current)
        } else if period > 0 && is_of(period - 1) {
            Some(Age::Previous)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nonce_is_good_for_a_while_and_for_those_who_share_the_secret() {
        let (nonces, replica, other) = (
            Nonces::new(b"secret"),
            Nonces::new(b"secret"),
            Nonces::new(b"another"),
        );
        let nonce = nonces.current(1000 * PERIOD);
        assert_eq!(replica.age(&nonce, 1000 * PERIOD), Some(Age::Current));
        assert_eq!(replica.age(&nonce, 1001 * PERIOD), Some(Age::Previous));
        assert_eq!(replica.age(&nonce, 1002 * PERIOD), None);
        assert_eq!(replica.age(&nonce, 999 * PERIOD), None);
        assert_eq!(other.age(&nonce, 1000 * PERIOD), None);
        assert_eq!(nonces.age("", 0), None);
        assert_eq!(nonces.age("*", 0), None);
    }
}
