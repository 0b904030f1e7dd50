//! PKCE, RFC 7636: proof that a code is redeemed by the client that asked for it.

use super::random::random_text;
use crate::Secret;
use crate::jose::digest;

/// The challenge of the authorization request and the verifier of the token request.
#[derive(Clone, Debug)]
pub(crate) struct Pkce {
    /// The verifier: secret until the code is redeemed.
    pub(crate) verifier: Secret,
    /// Its digest.
    pub(crate) challenge: String,
}

impl Pkce {
    /// The only method that we use; `plain` gives no protection.
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
