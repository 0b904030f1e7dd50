//! `Guard`, which configures the server's URL, the issuers and the required scopes.

use std::{sync::Arc, time::SystemTime};

use turnbuckle_store::UsedStates;

use super::{
    attempts::Attempts,
    challenge::Scheme,
    clock::Clock,
    dpop::{ALGORITHMS, Binding, Proofs, WINDOW},
    guard_error::{GuardError, MIN_SECRET_BYTES},
    issuer::{Issuer, LiveIssuer},
    live::{Inner, LiveGuard},
    memory::Memory,
    metadata::{self, About},
    nonce::Nonces,
    refusal::Terms,
    replay::Replay,
    resource::Resource,
    scopes::{self, Hierarchy},
};
use crate::jose::Algorithm;

/// How many unknown tokens one address may send per minute. A user who signs in again sends one.
const UNKNOWN_TOKENS: u32 = 60;

/// Configures the authorization of a server: the URL that tokens must be issued for, the accepted
/// issuers, and the required scopes. [`build`](Self::build) returns the [`LiveGuard`], which you
/// give to a server over HTTP.
///
/// ```
/// use turnbuckle_auth::server::{Guard, Issuer};
///
/// # fn main() -> Result<(), turnbuckle_auth::server::GuardError> {
/// let guard = Guard::new("https://mcp.example.com/mcp")
///     .issuer(Issuer::new("https://login.example.com").audience("api://notes"))
///     .scopes(["notes:read"])
///     .scopes_supported(["notes:read", "notes:write"])
///     .implies("notes:write", ["notes:read"])
///     .build()?;
/// # Ok(()) }
/// ```
///
/// A request without a token, or with an invalid one, gets 401 with a challenge that names the URL
/// of the metadata. A request whose token lacks a scope gets 403 with the required scopes. Servers
/// over stdio have no guard: their caller is the user who started them.
#[derive(Debug)]
#[must_use = "a guard guards nothing until it is built and given to a server"]
pub struct Guard {
    resource: String,
    issuers: Vec<Issuer>,
    scopes: Vec<String>,
    supported: Vec<String>,
    hierarchy: Hierarchy,
    binding: Binding,
    nonces: NonceSource,
    used_proofs: UsedProofs,
    about: About,
    clock: Clock,
    unknown_tokens: u32,
    keeps_subjects: bool,
}

enum NonceSource {
    None,
    Random,
    Secret(Vec<u8>),
}

impl std::fmt::Debug for NonceSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NonceSource")
    }
}

/// The store in which used proofs are shared, in addition to the memory of this process.
struct UsedProofs(Option<Arc<dyn UsedStates>>);

impl std::fmt::Debug for UsedProofs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("UsedProofs")
    }
}

impl Guard {
    /// Makes a guard for the server that clients reach at this URL: the URL of its endpoint as seen
    /// from outside, for example in front of a proxy. Tokens must be issued for this URL;
    /// [`Issuer::audience`] adds other names for it.
    pub fn new(resource: impl Into<String>) -> Self {
        Self {
            resource: resource.into(),
            issuers: Vec::new(),
            scopes: Vec::new(),
            supported: Vec::new(),
            hierarchy: Hierarchy::default(),
            binding: Binding::Accepted,
            nonces: NonceSource::None,
            used_proofs: UsedProofs(None),
            about: About::default(),
            clock: Clock::default(),
            unknown_tokens: UNKNOWN_TOKENS,
            keeps_subjects: false,
        }
    }

    /// Accepts tokens of this issuer, given as a URL or as an [`Issuer`] with settings. Call this
    /// several times to accept several issuers; clients choose one of them. At least one is
    /// required. A JWT is verified with the issuer that its `iss` names.
    pub fn issuer(mut self, issuer: impl Into<Issuer>) -> Self {
        self.issuers.push(issuer.into());
        self
    }

    /// Requires all of these scopes for every request. A tool can require more with `Tool::scopes`.
    /// Further calls add scopes. By default every token for this server is accepted, whatever its
    /// scopes.
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Publishes these scopes in the metadata, in addition to those that every request requires,
    /// for clients that request all scopes at once. They are not required: a tool states the scopes
    /// that it requires with `Tool::scopes`.
    pub fn scopes_supported<S: Into<String>>(
        mut self,
        scopes: impl IntoIterator<Item = S>,
    ) -> Self {
        self.supported.extend(scopes.into_iter().map(Into::into));
        self
    }

    /// Declares that a token with this scope also has the others, as in `implies("admin", ["read",
    /// "write"])`. Chains of implied scopes are followed.
    pub fn implies<S: Into<String>>(
        mut self,
        scope: impl Into<String>,
        implied: impl IntoIterator<Item = S>,
    ) -> Self {
        let implied = implied.into_iter().map(Into::into).collect();
        self.hierarchy.add(scope.into(), implied);
        self
    }

    /// Announces that tokens may be bound to a key (DPoP). Tokens that are bound to a key are
    /// always checked with their proofs, even without this setting. Plain bearer tokens are
    /// accepted too; [`require_dpop`](Self::require_dpop) refuses them.
    pub fn offer_dpop(mut self) -> Self {
        self.binding = Binding::Offered;
        self
    }

    /// Requires tokens that are bound to a key (DPoP), so that a stolen token is useless. Requests
    /// with a plain bearer token get 401. [`offer_dpop`](Self::offer_dpop) accepts both.
    pub fn require_dpop(mut self) -> Self {
        self.binding = Binding::Required;
        self
    }

    /// Requires nonces of this server in DPoP proofs, so that proofs cannot be made in advance. The
    /// nonces are valid for this process only; replicas need [`nonces_of`](Guard::nonces_of). A
    /// client without a valid nonce gets 401 with a new one, and repeats its request.
    pub fn nonces(mut self) -> Self {
        self.nonces = NonceSource::Random;
        self
    }

    /// Like [`nonces`](Self::nonces), but the nonces are derived from this secret, which replicas
    /// can share. The secret needs at least 16 random bytes.
    pub fn nonces_of(mut self, secret: impl Into<Vec<u8>>) -> Self {
        self.nonces = NonceSource::Secret(secret.into());
        self
    }

    /// Stores used DPoP proofs in this store too, so that replicas that share the store accept each
    /// proof only once. This costs one command of the store for each request with a proof. While
    /// the store cannot be reached, such requests are refused.
    pub fn used_proofs(mut self, store: Arc<dyn UsedStates>) -> Self {
        self.used_proofs = UsedProofs(Some(store));
        self
    }

    /// Publishes a human-readable name of the server in its metadata (`resource_name`). Clients may
    /// show it when they ask the user.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.about.name = Some(name.into());
        self
    }

    /// Publishes the URL of the server's documentation in its metadata (`resource_documentation`).
    pub fn documentation(mut self, url: impl Into<String>) -> Self {
        self.about.documentation = Some(url.into());
        self
    }

    /// Sets how many unknown tokens one address may send per minute, if verifying a token costs a
    /// request to an issuer. Defaults to 60. Beyond the limit the address gets 429 for tokens that
    /// were not seen before, and the issuer is not asked. Behind a proxy all clients have the
    /// proxy's address.
    pub fn unknown_tokens(mut self, in_a_minute: u32) -> Self {
        self.unknown_tokens = in_a_minute;
        self
    }

    /// Gives handlers the [token](crate::SubjectToken) of the caller, so that they can exchange it
    /// for tokens of other servers. By default only the guard sees the token.
    ///
    /// ```
    /// use turnbuckle_auth::SubjectToken;
    /// use turnbuckle_auth::server::Guard;
    /// use turnbuckle_server::Caller;
    ///
    /// let guard = Guard::new("https://mcp.example.com/mcp")
    ///     .issuer("https://login.example.com")
    ///     .keep_subject_tokens();
    ///
    /// async fn handler(caller: Caller) -> &'static str {
    ///     match caller.get::<SubjectToken>() {
    ///         Some(_) => "the token can be exchanged",
    ///         None => "there is no token",
    ///     }
    /// }
    /// # drop(guard);
    /// ```
    #[cfg(feature = "client")]
    pub fn keep_subject_tokens(mut self) -> Self {
        self.keeps_subjects = true;
        self
    }

    /// Sets the clock for checking expiry, for tests. Defaults to the clock of the system.
    pub fn clock(mut self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.clock = Clock::new(clock);
        self
    }

    /// Checks all settings and returns the guard. This sends no requests: issuers are contacted
    /// when the first token arrives, so a server starts even if its issuer is down.
    ///
    /// # Errors
    /// [`GuardError`] for the first setting that is wrong. Each message names the setting and the
    /// expected value.
    pub fn build(self) -> Result<LiveGuard, GuardError> {
        let resource = self.parse_resource()?;
        for scope in self.scopes.iter().chain(&self.supported) {
            if !scopes::is_token(scope) {
                return Err(GuardError::Scope(scope.clone()));
            }
            // authorization, "Refresh Tokens": servers SHOULD NOT list it.
            if scope == "offline_access" {
                return Err(GuardError::OfflineAccess);
            }
        }
        let mut issuers: Vec<LiveIssuer> = Vec::new();
        for issuer in self.issuers {
            let issuer = issuer.build()?;
            if issuers.iter().any(|other| other.url == issuer.url) {
                return Err(GuardError::SameIssuer(issuer.url));
            }
            issuers.push(issuer);
        }
        if issuers.is_empty() {
            return Err(GuardError::NoIssuer);
        }
        let terms = Terms {
            metadata_url: resource.metadata_url(),
            scopes: self.scopes.clone(),
            schemes: schemes(self.binding),
            proof_algorithms: ALGORITHMS.map(Algorithm::name).join(" "),
        };
        let urls: Vec<_> = issuers.iter().map(|issuer| issuer.url.as_str()).collect();
        let supported = scopes::union(&self.scopes, &self.supported);
        let document = metadata::document(&resource, &urls, &supported, &terms, &self.about);
        let proofs = Proofs {
            binding: self.binding,
            nonces: nonces(self.nonces)?,
            replay: Replay::new(WINDOW),
            shared: self.used_proofs.0,
        };
        Ok(LiveGuard::new(Inner {
            resource,
            issuers,
            terms,
            hierarchy: self.hierarchy,
            proofs,
            document,
            known: Memory::new(),
            refused: Memory::new(),
            attempts: Attempts::new(self.unknown_tokens),
            clock: self.clock,
            keeps_subjects: self.keeps_subjects,
        }))
    }

    fn parse_resource(&self) -> Result<Resource, GuardError> {
        let bad = |reason: String| GuardError::Resource {
            resource: self.resource.clone(),
            reason,
        };
        // RFC 8707, 2: a resource MUST NOT have a fragment.
        if self.resource.contains('#') {
            return Err(bad("it must not have a fragment".into()));
        }
        Resource::parse(&self.resource).map_err(|error| bad(error.to_string()))
    }
}

fn schemes(binding: Binding) -> Vec<Scheme> {
    match binding {
        Binding::Accepted => vec![Scheme::Bearer],
        Binding::Offered => vec![Scheme::Bearer, Scheme::Dpop],
        Binding::Required => vec![Scheme::Dpop],
    }
}

fn nonces(source: NonceSource) -> Result<Option<Nonces>, GuardError> {
    let secret = match source {
        NonceSource::None => return Ok(None),
        NonceSource::Random => {
            let random = ring::rand::SystemRandom::new();
            let mut secret = vec![0; 32];
            ring::rand::SecureRandom::fill(&random, &mut secret)
                .map_err(|_| GuardError::NoRandomness)?;
            secret
        }
        NonceSource::Secret(secret) if secret.len() < MIN_SECRET_BYTES => {
            return Err(GuardError::WeakSecret);
        }
        NonceSource::Secret(secret) => secret,
    };
    Ok(Some(Nonces::new(&secret)))
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: A19
    #[test]
    fn a_guard_that_cannot_work_is_not_built() {
        let guard = || Guard::new("https://h.example/mcp").issuer("https://i.example");
        assert!(guard().build().is_ok());
        let refused = |guard: Guard| guard.build().err().map(|error| error.to_string());
        for (guard, expected) in [
            (Guard::new("https://h.example/mcp"), "no issuer"),
            (
                Guard::new("h.example").issuer("https://i.example"),
                "must begin with",
            ),
            (
                Guard::new("https://h.example/#a").issuer("https://i.example"),
                "fragment",
            ),
            (guard().issuer("https://i.example"), "duplicate issuer"),
            (guard().issuer("http://i.example"), "TLS"),
            (guard().issuer("i.example"), "must begin with"),
            (guard().scopes(["a b"]), "not a scope"),
            (guard().scopes(["offline_access"]), "which clients request"),
            (
                guard().scopes_supported(["offline_access"]),
                "which clients request",
            ),
            (guard().nonces_of("short"), "random bytes"),
        ] {
            let error = refused(guard).expect(expected);
            assert!(error.contains(expected), "{error}");
        }
        let keys = Issuer::new("https://j.example").keys_at("http://j.example/keys");
        assert!(refused(guard().issuer(keys)).is_some_and(|error| error.contains("TLS")));
        assert!(guard().issuer("http://localhost:9").build().is_ok());
    }

    #[test]
    fn secrets_are_not_shown() {
        let issuer = Issuer::new("https://i.example").introspect("client", "hunter2");
        let guard = Guard::new("https://h.example/mcp")
            .issuer(issuer)
            .nonces_of("hunter2hunter2hunter2");
        assert!(!format!("{guard:?}").contains("hunter2"));
        let live = guard.build().unwrap();
        assert!(!format!("{live:?}").contains("hunter2"));
    }
}
