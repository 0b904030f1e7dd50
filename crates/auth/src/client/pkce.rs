//! PKCE (RFC 7636): proves that the client that redeems a code is the one that requested it.

use super::random::random_text;
use crate::Secret;
use crate::jose::digest;

/// The challenge for the authorization request and the verifier for the token request.
#[derive(Clone, Debug)]
pub(crate) struct Pkce {
    /// The verifier, which is secret until the code is redeemed.
    pub(crate) verifier: Secret,
    /// The digest of the verifier.
    pub(crate) challenge: String,
}

impl Pkce {
    /// The only supported method; `plain` gives no protection.
    pub(crate) const METHOD: &'static str = "S256";

    pub(crate) fn new() -> Self {
        let verifier = random_text();
        Self {
            challenge: digest(verifier.expose()),
            verifier,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_a_verifier_of_its_own() {
        let (one, other) = (Pkce::new(), Pkce::new());
        assert_ne!(one.verifier, other.verifier);
        // RFC 7636, 4.1: 43 to 128 characters.
        assert_eq!(one.verifier.expose().len(), 43);
        assert_eq!(one.challenge, digest(one.verifier.expose()));
        assert!(!format!("{one:?}").contains(one.verifier.expose()));
    }
}
