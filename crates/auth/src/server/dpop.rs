//! DPoP (RFC 9449): proofs that a client has the key that its token is bound to.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use turnbuckle_store::{StateClaim, StateUse, UsedStates};

use super::{
    challenge::Scheme,
    clock::CLOCK_SKEW,
    credentials::Credentials,
    nonce::{Age, Nonces},
    refusal::Denied,
    replay::{MAX_PROOFS_OF_KEY, Replay, Use},
    resource::Resource,
};
use crate::jose::{Algorithm, Jwk, Jws, digest, is_same, sha256};

/// How far the time of a proof may differ from ours, in seconds. The extension's draft allows five
/// minutes; clients whose clocks differ more need nonces.
pub(super) const WINDOW: u64 = 300;

/// The longest `jti`, in bytes. A UUID has 36.
const MAX_ID_BYTES: usize = 512;

/// How long to wait for the store that replicas share.
const ASK_OTHERS_WITHIN: Duration = Duration::from_secs(5);

const USED_BEFORE: &str = "the proof was used before: make one for each request";

/// The algorithms of proofs: the ones that clients use, of those that we can verify.
pub(super) const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::Es256,
    Algorithm::EdDsa,
    Algorithm::Es384,
    Algorithm::Rs256,
    Algorithm::Ps256,
];

/// Whether tokens must be bound to keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binding {
    /// Bound tokens are accepted but not advertised.
    Accepted,
    /// Bound tokens are accepted, and the metadata advertises this.
    Offered,
    /// Only bound tokens are accepted.
    Required,
}

/// Checks proofs.
pub(super) struct Proofs {
    pub(super) binding: Binding,
    pub(super) nonces: Option<Nonces>,
    pub(super) replay: Replay,
    /// The store in which replicas share the proofs that were used.
    pub(super) shared: Option<Arc<dyn UsedStates>>,
}

/// The result for a request whose proof is valid or that needs no proof.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Proved {
    /// A nonce for the next request, if the client should use a newer one.
    pub(super) next_nonce: Option<String>,
    /// The proof, if other replicas have to be asked whether it was used.
    pub(super) used: Option<UsedProof>,
}

/// A proof that was not used in this process before.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UsedProof {
    id: [u8; 32],
    /// A number for its key, for quotas.
    key: u64,
}

impl Proved {
    const WITHOUT_PROOF: Self = Self {
        next_nonce: None,
        used: None,
    };
}

impl Proofs {
    /// Checks that the sender may use the token: a token that is bound to a key needs a proof of
    /// that key; any other token needs no proof.
    pub(super) fn check(
        &self,
        credentials: &Credentials,
        bound_to: Option<&str>,
        resource: &Resource,
        now: u64,
    ) -> Result<Proved, Denied> {
        match (credentials.scheme, bound_to) {
            (Scheme::Bearer, None) if self.binding == Binding::Required => {
                let reason = "only tokens that are bound to a key (DPoP) are accepted";
                Err(Denied::Token(reason.into()))
            }
            (Scheme::Bearer, None) => Ok(Proved::WITHOUT_PROOF),
            // RFC 9449, 7.2: a bound token MUST NOT be taken as a bearer token.
            (Scheme::Bearer, Some(_)) => {
                let reason = "the token is bound to a key: send it as `Authorization: DPoP` with a \
                              proof";
                Err(Denied::Token(reason.into()))
            }
            (Scheme::Dpop, None) => {
                let reason = "the token is not bound to a key: send it as `Authorization: Bearer`";
                Err(Denied::Token(reason.into()))
            }
            (Scheme::Dpop, Some(key)) => self.check_proof(credentials, key, resource, now),
        }
    }

    fn check_proof(
        &self,
        credentials: &Credentials,
        bound_to: &str,
        resource: &Resource,
        now: u64,
    ) -> Result<Proved, Denied> {
        let proof = credentials.proof.as_deref();
        let proof = proof.ok_or_else(|| bad("the header `DPoP` is missing"))?;
        let (thumbprint, claims) = verify(proof)?;
        if !is_same(thumbprint.as_bytes(), bound_to.as_bytes()) {
            return Err(Denied::Token("the token is bound to another key".into()));
        }
        let text = |name| claims.get(name).and_then(Value::as_str).unwrap_or_default();
        if text("htm") != credentials.method.as_str() {
            return Err(bad("`htm` of the proof is not the method of the request"));
        }
        if !resource.is_target(text("htu"), &credentials.path) {
            return Err(bad("`htu` of the proof is not the URL of the request"));
        }
        let token = digest(&credentials.token);
        if !is_same(text("ath").as_bytes(), token.as_bytes()) {
            return Err(bad("`ath` of the proof is not the hash of the token"));
        }
        let issued = claims.get("iat").and_then(Value::as_u64);
        let issued = issued.ok_or_else(|| bad("the proof has no `iat`"))?;
        if now.abs_diff(issued) > WINDOW {
            return Err(bad(
                "the proof is too old, or the clock of the client is wrong",
            ));
        }
        let next_nonce = self.check_nonce(&claims, now)?;
        let used = self.check_first_use(text("jti"), &thumbprint, now)?;
        let used = self.shared.is_some().then_some(used);
        Ok(Proved { next_nonce, used })
    }

    fn check_nonce(&self, claims: &Map<String, Value>, now: u64) -> Result<Option<String>, Denied> {
        let Some(nonces) = &self.nonces else {
            return Ok(None);
        };
        let given = claims.get("nonce").and_then(Value::as_str);
        match given.and_then(|given| nonces.age(given, now)) {
            Some(Age::Current) => Ok(None),
            Some(Age::Previous) => Ok(Some(nonces.current(now))),
            None => Err(Denied::Nonce(nonces.current(now))),
        }
    }

    fn check_first_use(&self, id: &str, thumbprint: &str, now: u64) -> Result<UsedProof, Denied> {
        if id.is_empty() || id.len() > MAX_ID_BYTES {
            return Err(bad("the proof has no `jti`, or its `jti` is too long"));
        }
        // All thumbprints have the same length, so no two pairs give the same text.
        let proof = sha256(format!("{thumbprint}{id}"));
        let key = sha256(thumbprint);
        match self.replay.note(proof, key, now) {
            Use::First => Ok(UsedProof {
                id: proof,
                key: key
                    .iter()
                    .take(8)
                    .fold(0, |number, byte| (number << 8) | u64::from(*byte)),
            }),
            Use::Again => Err(bad(USED_BEFORE)),
            Use::Crowded => Err(Denied::Unavailable(
                "too many proofs are in use: try again later".into(),
            )),
            Use::KeyCrowded => Err(Denied::TooMany(format!(
                "this key has signed more proofs than are remembered ({MAX_PROOFS_OF_KEY} in ten \
                 minutes): send fewer requests, or use another key"
            ))),
        }
    }

    /// Checks that no other replica has seen a proof, if replicas share their used proofs.
    pub(super) async fn check_elsewhere(&self, proof: &UsedProof, now: u64) -> Result<(), Denied> {
        let Some(shared) = &self.shared else {
            return Ok(());
        };
        let expires = now.saturating_add(2 * WINDOW);
        let spending = shared.claim(StateUse::new(&proof.id, proof.key, expires, now));
        let unavailable = "cannot check whether the proof was used before: try again later";
        match tokio::time::timeout(ASK_OTHERS_WITHIN, spending).await {
            Ok(Ok(StateClaim::FirstUse)) => Ok(()),
            Ok(Ok(StateClaim::AlreadyUsed)) => Err(bad(USED_BEFORE)),
            Ok(Ok(StateClaim::TooMany { limit })) => Err(Denied::TooMany(format!(
                "this key has signed more proofs than are remembered ({limit}): send fewer requests, or \
                 use another key"
            ))),
            Ok(Err(error)) => {
                tracing::error!(%error, "cannot look up used proofs");
                Err(Denied::Unavailable(unavailable.into()))
            }
            Err(_) => Err(Denied::Unavailable(unavailable.into())),
        }
    }
}

/// Verifies the signature of a proof with the key that it contains.
fn verify(proof: &str) -> Result<(String, Map<String, Value>), Denied> {
    let proof = Jws::parse(proof).map_err(|error| bad(&error.to_string()))?;
    if proof.header().typ.as_deref() != Some("dpop+jwt") {
        return Err(bad("`typ` of the proof is not `dpop+jwt`"));
    }
    let key = proof.header().jwk.as_ref();
    let key = key.ok_or_else(|| bad("the proof has no key in `jwk`"))?;
    let key = Jwk::parse(key).map_err(|error| bad(&error.to_string()))?;
    let claims = proof.verify_with(&key, &ALGORITHMS);
    let claims = claims.map_err(|error| bad(&error.to_string()))?;
    Ok((key.thumbprint(), claims))
}

fn bad(reason: &str) -> Denied {
    Denied::Proof(reason.to_owned())
}

const _: () = assert!(
    WINDOW > CLOCK_SKEW,
    "the window covers what clocks differ by"
);
