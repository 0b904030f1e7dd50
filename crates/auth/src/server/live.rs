//! `LiveGuard`: the built guard, which checks the requests to a server.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{HeaderValue, request::Parts};
use serde_json::Value;
use turnbuckle_server::{AuthDecision, Authorized, Caller, HttpRefusal, Protect};
use turnbuckle_transport::http::Peer;

use super::{
    attempts::Attempts,
    claims::Verified,
    clock::{CLOCK_SKEW, Clock},
    credentials::{self, Credentials},
    dpop::{Proofs, UsedProof},
    issuer::LiveIssuer,
    memory::Memory,
    refusal::{Denied, NONCE, Terms},
    resource::Resource,
    scopes::{self, Hierarchy},
    verify::VerifyError,
};
use crate::jose::{Jws, sha256};

/// For how many seconds a refused token is refused again without verifying it. A client that
/// retries must not cost its issuer a request each time.
const REFUSED_FOR: u64 = 5;

/// A built guard, made by [`Guard::build`](super::Guard::build). Give it to `HttpService::protect`
/// or `Http::protect`. Clones share their caches.
///
/// It verifies the token of each request, and serves the protected resource metadata. A verified
/// token is accepted for a while without verifying it again
/// ([`Issuer::cache_for`](super::Issuer::cache_for)); a refused token is refused for five seconds.
#[derive(Clone)]
pub struct LiveGuard(Arc<Inner>);

pub(super) struct Inner {
    pub(super) resource: Resource,
    pub(super) issuers: Vec<LiveIssuer>,
    pub(super) terms: Terms,
    pub(super) hierarchy: Hierarchy,
    pub(super) proofs: Proofs,
    pub(super) document: Bytes,
    pub(super) known: Memory<Known>,
    pub(super) refused: Memory<Denied>,
    pub(super) attempts: Attempts,
    pub(super) clock: Clock,
    /// Whether handlers get the tokens of callers, to exchange them.
    pub(super) keeps_subjects: bool,
}

/// The cached result of verifying a valid token.
#[derive(Debug)]
pub(super) struct Known {
    caller: Caller,
    /// The thumbprint of the key that the token is bound to.
    key: Option<String>,
}

impl LiveGuard {
    pub(super) fn new(inner: Inner) -> Self {
        Self(Arc::new(inner))
    }

    /// The URL of the protected resource metadata (RFC 9728), which challenges (`WWW-Authenticate`)
    /// contain. Your proxy must forward this path to the server.
    pub fn metadata_url(&self) -> &str {
        &self.0.terms.metadata_url
    }

    /// The protected resource metadata as JSON, for applications that serve it themselves at
    /// [`metadata_url`](Self::metadata_url).
    pub fn metadata(&self) -> Bytes {
        self.0.document.clone()
    }
}

impl Protect for LiveGuard {
    fn admit(&self, request: &Parts) -> AuthDecision {
        let now = self.0.clock.now();
        let credentials = match credentials::read(request) {
            Ok(credentials) => credentials,
            Err(denied) => return AuthDecision::Now(Err(self.0.deny(&denied))),
        };
        let token = sha256(&credentials.token);
        if let Some(known) = self.0.known.recall(&token, now) {
            return match self.0.finish(&credentials, &known, now) {
                Err(refusal) => AuthDecision::Now(Err(refusal)),
                Ok((admitted, None)) => AuthDecision::Now(Ok(admitted)),
                Ok((admitted, Some(proof))) => {
                    let inner = Arc::clone(&self.0);
                    AuthDecision::Later(Box::pin(async move {
                        inner.admit_once(admitted, Some(proof), now).await
                    }))
                }
            };
        }
        if let Some(denied) = self.0.refused.recall(&token, now) {
            return AuthDecision::Now(Err(self.0.deny(&denied)));
        }
        let origin = self.0.attempts.origin(request.extensions.get::<Peer>());
        if self.0.asks_issuers() && self.0.attempts.is_over(origin, now) {
            let reason = format!(
                "too many unknown tokens came from your address ({} in a minute): try again later, \
                 or raise `Guard::unknown_tokens`",
                self.0.attempts.max
            );
            return AuthDecision::Now(Err(self.0.deny(&Denied::TooMany(reason))));
        }
        let inner = Arc::clone(&self.0);
        AuthDecision::Later(Box::pin(async move {
            let met = inner.meet(&credentials.token, token, now).await;
            if met.is_err() {
                inner.attempts.note(origin, now);
            }
            let known = met?;
            let (admitted, proof) = inner.finish(&credentials, &known, now)?;
            inner.admit_once(admitted, proof, now).await
        }))
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        let is_here = self.0.resource.is_metadata_path(path);
        is_here.then(|| self.0.document.clone())
    }

    fn hosts(&self) -> Vec<String> {
        vec![self.0.resource.host().to_owned()]
    }

    fn lacking(&self, wanted: &[String]) -> HttpRefusal {
        // authorization: the challenge must contain all scopes of the operation.
        let all = scopes::union(&self.0.terms.scopes, wanted);
        self.0.deny(&Denied::Scopes(all))
    }
}

impl Inner {
    /// Whether an unknown token costs a request to an issuer.
    fn asks_issuers(&self) -> bool {
        self.issuers.iter().any(LiveIssuer::knows_opaque)
    }

    fn deny(&self, denied: &Denied) -> HttpRefusal {
        tracing::debug!(?denied, "refused a request");
        self.terms.refuse(denied)
    }

    /// Verifies a token that is not cached.
    async fn meet(
        &self,
        token: &str,
        digest: [u8; 32],
        now: u64,
    ) -> Result<Arc<Known>, HttpRefusal> {
        match self.verify(token, now).await {
            Ok((verified, cached_for)) => {
                let until = now.saturating_add(cached_for);
                let until = match verified.expires {
                    Some(expires) => until.min(expires.saturating_add(CLOCK_SKEW)),
                    None => until,
                };
                let known = Arc::new(self.know(verified, token));
                self.known.remember(digest, Arc::clone(&known), until);
                Ok(known)
            }
            Err(error) => {
                let denied = Denied::from(error);
                let refusal = self.deny(&denied);
                if matches!(denied, Denied::Token(_)) {
                    let until = now.saturating_add(REFUSED_FOR);
                    self.refused.remember(digest, Arc::new(denied), until);
                }
                Err(refusal)
            }
        }
    }

    /// Finds the issuer of a token, and verifies it there.
    async fn verify(&self, token: &str, now: u64) -> Result<(Verified, u64), VerifyError> {
        let said = Jws::parse(token).ok();
        let said = said.as_ref().and_then(|token| {
            let issuer = token.unverified_claims().get("iss");
            issuer.and_then(Value::as_str)
        });
        if let Some(said) = said {
            // A token of an unknown issuer is not sent to another issuer.
            let Some(issuer) = self.issuers.iter().find(|issuer| issuer.url == said) else {
                let reason = "tokens of its issuer are not accepted";
                return Err(VerifyError::Invalid(reason.into()));
            };
            let verified = issuer.verify(token, &self.resource, now).await?;
            return Ok((verified, issuer.cached_for));
        }
        let unknown = "the token is not from a known issuer";
        let mut verdict = VerifyError::Invalid(unknown.into());
        for issuer in self.issuers.iter().filter(|issuer| issuer.knows_opaque()) {
            match issuer.verify(token, &self.resource, now).await {
                Ok(verified) => return Ok((verified, issuer.cached_for)),
                // The issuer that could not be reached might have accepted the token.
                Err(error @ VerifyError::Unavailable(_)) => verdict = error,
                Err(error) if !matches!(verdict, VerifyError::Unavailable(_)) => verdict = error,
                Err(_) => {}
            }
        }
        Err(verdict)
    }

    fn know(&self, verified: Verified, token: &str) -> Known {
        let scopes = self.hierarchy.expand(verified.identity.scopes());
        let caller = verified.identity.into_caller(scopes);
        Known {
            caller: self.with_subject(caller, token, verified.expires),
            key: verified.key,
        }
    }

    #[cfg(feature = "client")]
    fn with_subject(&self, caller: Caller, token: &str, expires: Option<u64>) -> Caller {
        if self.keeps_subjects {
            return caller.with(crate::SubjectToken::new(token, expires));
        }
        caller
    }

    #[cfg(not(feature = "client"))]
    fn with_subject(&self, caller: Caller, _: &str, _: Option<u64>) -> Caller {
        debug_assert!(!self.keeps_subjects);
        caller
    }

    /// Admits a request unless its proof was used at another replica.
    async fn admit_once(
        &self,
        admitted: Authorized,
        proof: Option<UsedProof>,
        now: u64,
    ) -> Result<Authorized, HttpRefusal> {
        if let Some(proof) = proof {
            let checked = self.proofs.check_elsewhere(&proof, now).await;
            checked.map_err(|denied| self.deny(&denied))?;
        }
        Ok(admitted)
    }

    /// The checks that every request needs, even if its token is cached. A returned proof must be
    /// checked with other replicas too.
    fn finish(
        &self,
        credentials: &Credentials,
        known: &Known,
        now: u64,
    ) -> Result<(Authorized, Option<UsedProof>), HttpRefusal> {
        let proved = self
            .proofs
            .check(credentials, known.key.as_deref(), &self.resource, now)
            .map_err(|denied| self.deny(&denied))?;
        let is_good_for = |scope: &String| known.caller.has_scope(scope);
        if !self.terms.scopes.iter().all(is_good_for) {
            return Err(self.deny(&Denied::Scopes(self.terms.scopes.clone())));
        }
        let admitted = Authorized::new(known.caller.clone());
        let nonce = proved.next_nonce;
        match nonce.and_then(|nonce| HeaderValue::from_str(&nonce).ok()) {
            Some(nonce) => Ok((admitted.with_header(NONCE, nonce), proved.used)),
            None => Ok((admitted, proved.used)),
        }
    }
}

impl fmt::Debug for LiveGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveGuard")
            .field("resource", &self.0.resource.as_str())
            .finish_non_exhaustive()
    }
}
