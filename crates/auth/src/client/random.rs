//! Unguessable random text.

use ring::rand::{SecureRandom, SystemRandom};

use crate::Secret;
use crate::jose::base64url;

/// 256 bits, as RFC 7636 recommends for verifiers.
const BYTES: usize = 32;

/// Returns 43 random characters of base64url.
pub(crate) fn random_text() -> Secret {
    let mut bytes = [0; BYTES];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the system has randomness, or TLS would not work either");
    Secret::new(base64url::encode(bytes))
}
